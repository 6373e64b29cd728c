/** How much of a log is kept, and when its state is written down. */
import type { EntrySize } from './log.ts';

/** Events of a log are never more than this: trimming begins before, so that another entry has room. */
export const MAX_KEPT = 1000;
const TRIMMED_ABOVE = 900;
const TRIMMED_TO = 800;

const MAX_BYTES = 4 * 1_048_576;
const MAX_AGE_MILLISECONDS = 24 * 3_600_000;

/** What may lie behind the last checkpoint: an instance that takes over reads it, and it cannot be trimmed. */
const CHECKPOINT_TRANSITIONS = 500;
const CHECKPOINT_BYTES = { least: 262_144, most: 2 * 1_048_576 };

/**
 * @param since what was appended since the last checkpoint
 * @param stateBytes what a checkpoint takes: a large one is written less often
 */
export function isCheckpointDue(since: readonly EntrySize[], stateBytes: number): boolean {
  const { transitions, bytes } = total(since);
  const worth = Math.min(Math.max(CHECKPOINT_BYTES.least, stateBytes), CHECKPOINT_BYTES.most);
  return transitions >= CHECKPOINT_TRANSITIONS || bytes >= worth;
}

/**
 * The entries to drop, oldest first.
 * @param covered the last entry that the checkpoint takes in: none after it may go
 */
export function outdated(entries: readonly EntrySize[], covered: number, now: Date): readonly number[] {
  const all = total(entries);
  const isFull = all.events > TRIMMED_ABOVE || all.bytes > MAX_BYTES;
  const dropped: number[] = [];
  for (const entry of entries) {
    const isOld = now.getTime() - entry.at > MAX_AGE_MILLISECONDS;
    const isTooMuch = isFull && (all.events > TRIMMED_TO || all.bytes > MAX_BYTES);
    if (entry.sequence > covered || !(isOld || isTooMuch)) break;
    dropped.push(entry.sequence);
    all.events -= entry.events;
    all.bytes -= entry.bytes;
  }
  return dropped;
}

function total(entries: readonly EntrySize[]): { transitions: number; events: number; bytes: number } {
  const sum = { transitions: 0, events: 0, bytes: 0 };
  for (const { transitions, events, bytes } of entries) {
    sum.transitions += transitions;
    sum.events += events;
    sum.bytes += bytes;
  }
  return sum;
}
