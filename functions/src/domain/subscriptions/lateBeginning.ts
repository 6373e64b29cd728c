/**
 * A log that is made after its subscription, since the instance that made that one died in between. Nobody knows
 * what happened meanwhile, so the log begins by saying so.
 */
import type { EventLog } from './log.ts';
import type { State } from './transition.ts';

/**
 * The entry that tells of the loss comes before the state: whoever has read it finds everything that happens after.
 * Where somebody dies in between, the next one adds another.
 * @param state as it was before this was called
 * @returns the number of the first entry that tells of something after the state
 */
export async function beginLate(
  events: EventLog,
  log: string,
  state: State,
  writer: string,
): Promise<number> {
  const sequence = (await events.end(log)) + 1;
  const isAppended = await events.append(log, { sequence, writer, transitions: [], isAfterLoss: true });
  await events.create(log, state);
  // Where it was not, another reader had the same thought, or the log has been made after all.
  return isAppended ? sequence + 1 : sequence;
}
