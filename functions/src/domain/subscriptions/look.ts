/** A path as it is now, read the way it is watched. */
import type { DatabaseAccesses } from '../data/access.ts';
import type { Caller } from '../data/caller.ts';
import { connectionError } from '../data/errors.ts';
import type { DataPath } from '../data/path.ts';
import type { JsonValue } from '../json.ts';
import type { EventType } from './event.ts';
import { MAX_CHILDREN, shapeOf } from './subscription.ts';
import { within } from './waiting.ts';

const LOOK_MILLISECONDS = 15_000;

export type Look = ReadonlyMap<string, JsonValue>;

/** @throws MusterError as domain/data/errors.ts makes them */
export async function lookAt(
  databases: DatabaseAccesses,
  caller: Caller,
  path: DataPath,
  eventType: EventType,
): Promise<Look> {
  let stop = (): void => undefined;
  const looking = new Promise<Look>((resolve, reject) => {
    const watch = databases[path.database].watch(caller, path, shapeOf(eventType), MAX_CHILDREN, {
      initial: resolve,
      changed: () => undefined,
      failed: reject,
    });
    stop = () => watch.stop();
  });
  const late = () => connectionError(new Error('The path was not read in time.'));
  return within(LOOK_MILLISECONDS, looking, late).finally(() => stop());
}
