import { foldedCapability } from '../../../access/rules/agent.ts';

// How the system tools read. Each call reads what it gives and a constant more.

/** The states of a task that is not closed, as system.getTaskQueue names them. */
export const QUEUE_STATUSES = ['pending', 'blocked', 'assigned', 'in_progress'] as const;

export type QueueStatus = (typeof QUEUE_STATUSES)[number];

export interface PriorityRange {
  readonly from: number;
  readonly to: number;
}

export interface QueueFilter {
  readonly priorities: PriorityRange | undefined;
  readonly type: string | undefined;
}

/** Of an answer, what the tasks of one state of the queue may take: two of them may have to share it. */
export const STATE_SHARE = 0.5;

/**
 * Matching agents to tasks without reading tasks: a session keeps the few different sets of capabilities
 * that its tasks require, each as one key, and a claim asks only for the keys that its agent satisfies.
 */

/** The most capabilities that one task may require. */
export const MAX_REQUIRED_CAPABILITIES = 10;

/** The longest key. Firestore queries no text above 1500 bytes, and one key too long would fail every claim. */
export const MAX_CAPABILITY_KEY_BYTES = 1200;

/** The most different sets of required capabilities in one session. */
export const MAX_CAPABILITY_KEYS = 150;

const SEPARATOR = '|';

/** The key of a set of capabilities; the empty set's is the empty text. Case does not count. */
export function capabilityKey(required: readonly string[]): string {
  return [...new Set(required.map(foldedCapability))].sort().join(SEPARATOR);
}

/** The keys among `keys` that an agent with these capabilities satisfies; the empty one always. */
export function satisfiedKeys(keys: readonly string[], capabilities: readonly string[]): string[] {
  const has = new Set(capabilities.map(foldedCapability));
  const satisfied = keys.filter((key) => key !== '' && key.split(SEPARATOR).every((name) => has.has(name)));
  return ['', ...satisfied.sort()];
}
