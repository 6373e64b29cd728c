/** The current code can read every stored version of each Realtime Database value, even with additional fields. */
import assert from 'node:assert/strict';
import { lastSeenIn } from '../../functions/src/agents/store/presence.ts';
import * as paths from '../../functions/src/kernel/realtime/database.ts';
import { bucketIn } from '../../functions/src/limits/store/ledgers.ts';
import { markerValue } from '../../functions/src/toolsets/firebase/realtime/writing.ts';
import { storedEntry, storedSizes, storedState } from '../../functions/src/toolsets/firebase/store/eventLog.ts';
import { leaseIn } from '../../functions/src/toolsets/firebase/store/watcherLeases.ts';
import { storedCounts, storedMinute } from '../../functions/src/toolsets/system/store/metrics.ts';
import { tokenIn } from '../../functions/src/toolsets/todo/store/notifications.ts';
import { storedNames, storedVersions } from './documents.ts';

/** For each path, the function that reads its values. The server does not read values of other paths. */
const READERS: ReadonlyMap<string, (value: unknown) => unknown> = new Map<string, (value: unknown) => unknown>([
  ['presence', (value) => lastSeenIn(value) || undefined],
  ['limits', bucketIn],
  ['metrics.minutes', (value) => minuteIn(value)],
  ['bus.log', (value) => storedEntry.parse(value)],
  ['bus.states', (value) => storedState.parse(value)],
  ['bus.checkpoints', (value) => storedSizes.parse(value)],
  ['bus.watcher', leaseIn],
  ['devices', tokenIn],
  ['commits', (value) => markerValue.parse(value)],
]);

function minuteIn(value: unknown): unknown {
  const { all, tools } = storedMinute.parse(value);
  return [storedCounts.parse(all), Object.values(tools).map((counts) => storedCounts.parse(counts))];
}

describe('stored Realtime Database values', () => {
  it('have sample files for every database path', () => {
    const names = storedNames('realtime');
    const places = Object.values(paths).flatMap((value) => (typeof value === 'string' ? [value] : []));
    for (const place of places) {
      const name = place.replaceAll('/', '.');
      assert.ok(
        names.some((one) => one === name || one.startsWith(`${name}.`)),
        `${place} has no sample files`,
      );
    }
    for (const name of READERS.keys()) assert.ok(names.includes(name), name);
  });

  for (const [name, read] of READERS)
    for (const { version, documents } of storedVersions('realtime', name))
      for (const [key, value] of Object.entries(documents))
        it(`${name}/${key} in version ${version} can be read, even with additional fields`, () => {
          const found = read(value);
          assert.notEqual(found, undefined);
          if (typeof value !== 'object') return;
          assert.deepEqual(read({ ...value, field_of_tomorrow: { of: ['a', 'newer', 'version'] } }), found);
        });
});
