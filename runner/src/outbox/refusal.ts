/** Classifies failed calls by their effect on an attempt. */
import { HubRefusal, HubUnreachable } from '../hub/connection.ts';

/**
 * Effect of a failed call on the attempt. `lost`: the claim belongs to another runner, or the task does not exist.
 * `content`: the hub rejects the content. `accepted`: the call succeeded, but its response was not understood.
 * `passing`: a retry can succeed.
 */
export type Meaning = 'lost' | 'content' | 'accepted' | 'passing';

const MEANINGS: ReadonlyMap<string, Meaning> = new Map([
  ['CONFLICT', 'lost'],
  ['FORBIDDEN', 'lost'],
  ['GONE', 'lost'],
  ['NOT_FOUND', 'lost'],
  ['VALIDATION_ERROR', 'content'],
  ['REQUIRED_FIELD', 'content'],
  ['INVALID_FORMAT', 'content'],
  ['PROTOCOL', 'content'],
  ['HTTP_400', 'content'],
  ['HTTP_413', 'content'],
  ['HTTP_422', 'content'],
  ['UNEXPECTED', 'accepted'],
]);

/** Classifies a failed call. An error that does not come from the hub is attributed to the content. */
export function classifyRefusal(error: unknown): Meaning {
  if (error instanceof HubUnreachable) return 'passing';
  return error instanceof HubRefusal ? (MEANINGS.get(error.type) ?? 'passing') : 'content';
}
