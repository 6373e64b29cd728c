/** Joins what one actor did to one item within a minute, so that "claimed" and "started" are one line. */
import type { Event } from './events.ts';

const WITHIN_MS = 60_000;

/** Tools after which the same actor's earlier event on the item says nothing more. */
const FOLLOWS: Readonly<Record<string, readonly string[]>> = {
  'coordination.start_task': ['coordination.claim_task'],
  'coding.append_logs': ['coding.claim_task', 'coding.append_logs'],
};

/** @param events newest first @returns the events without those that follow at once from an earlier one */
export function joined<One extends Pick<Event, 'at' | 'by' | 'tool' | 'changes'>>(
  events: readonly One[],
): readonly One[] {
  return events.filter((event, index) => {
    const before = FOLLOWS[event.tool];
    const item = event.changes.find(({ kind }) => kind === 'task')?.id;
    if (before === undefined || item === undefined) return true;
    return !events.slice(index + 1).some((earlier) => {
      const isNear = Date.parse(event.at) - Date.parse(earlier.at) < WITHIN_MS;
      return (
        isNear &&
        earlier.by === event.by &&
        before.includes(earlier.tool) &&
        earlier.changes.some(({ id }) => id === item)
      );
    });
  });
}
