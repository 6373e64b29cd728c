/**
 * What the Realtime Database's refusals mean to the caller. Source:
 * https://firebase.google.com/docs/reference/rest/database, "Firebase Database Error Conditions".
 */
import { z } from 'zod';
import { expired } from '../../../domain/agents/authentication.ts';
import {
  connectionError,
  invalidDataType,
  invalidRequest,
  missingIndex,
  permissionDenied,
  quotaExceeded,
  sizeLimitExceeded,
  writeConflict,
} from '../../../domain/data/errors.ts';
import type { MusterError } from '../../../domain/errors.ts';
import type { RestRequest } from './request.ts';
import type { HttpAnswer } from './transport.ts';

const LONGEST_CAUSE = 300;

const refusal = z.object({ error: z.string() });

export function refusalOf(answer: HttpAnswer, request: RestRequest): MusterError {
  const { path, named = path } = request;
  const said = reasonIn(answer.text ?? '');
  const cause = `HTTP ${answer.status}: ${said.slice(0, LONGEST_CAUSE)}`;
  switch (answer.status) {
    case 400:
      return unacceptable(said, request, cause);
    case 401:
    case 403:
      return /expired/i.test(said) ? expired(cause) : permissionDenied(named, cause);
    case 402:
    case 429:
      return quotaExceeded(cause);
    case 412:
      return writeConflict(`"${named}" is not at the version that this write builds on.`, cause);
    case 413:
      return tooLarge(request);
    default:
      return connectionError(cause);
  }
}

/** What the database itself calls the error; of a proxy's page nothing but the status is known. */
function reasonIn(text: string): string {
  try {
    return refusal.parse(JSON.parse(text)).error;
  } catch {
    return 'no reason';
  }
}

function unacceptable(said: string, request: RestRequest, cause: string): MusterError {
  if (/^index not defined/i.test(said)) return missingIndex(indexFor(request), cause);
  if (/maximum size|too (big|large)/i.test(said)) return tooLarge(request);
  if (/quota/i.test(said)) return quotaExceeded(cause);
  return request.data === undefined
    ? invalidRequest('query', 'The database does not understand this query.', 'Check orderBy and its bounds.')
    : invalidDataType('data', 'The database does not take this data.', 'See docs/guides/data.md, "Writing".');
}

function tooLarge({ data }: RestRequest): MusterError {
  return data === undefined
    ? sizeLimitExceeded(
        'path',
        'There is more at this path than the database gives at once.',
        'Read with shallow for the keys alone, with a smaller limit, or a deeper path.',
      )
    : sizeLimitExceeded('data', 'The data is too large for one write.', 'Split it over several paths.');
}

/** A sibling of a `$variable` would take its place, rules and all: hence the second half of the advice. */
function indexFor({ path, parameters }: RestRequest): string {
  const index = (parameters?.['orderBy'] ?? '').replace(/^"\$value"$/, '".value"');
  return `Add to database.rules.json, in the rules of "/${path}" or of the $variable that stands for it there: ".indexOn": [${index}]`;
}
