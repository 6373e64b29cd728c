/** The reservations are those of the held tasks after any history of calls. */
import assert from 'node:assert/strict';
import { FieldValue } from '@google-cloud/firestore';
import fc from 'fast-check';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { heldFilesPath } from '../../../functions/src/kernel/firestore/paths.ts';
import { rebuildSession } from '../../../scripts/rebuild/files.ts';
import { defaultOrNightly } from '../../support/nightly.ts';
import { inRuns } from '../../support/properties.ts';
import { CALLS, perform, type RandomCall } from './histories.ts';
import { entriesLeft, teamOf } from './kills.ts';

const RUNS = defaultOrNightly(4, { night: 60 });

const call: fc.Arbitrary<RandomCall> = fc.tuple(
  fc.oneof({ weight: 4, arbitrary: fc.constantFrom('claim', 'complete') }, fc.constantFrom(...CALLS)),
  fc.nat(3),
  fc.nat(20),
);

describe('the reservations of files', function () {
  this.timeout('20m');

  it('are those of the held tasks after random calls, one after another and at once', async () => {
    await inRuns(RUNS).forAllAsync(
      fc.array(fc.array(call, { minLength: 1, maxLength: 4 }), { minLength: 8 }),
      async (history) => {
        const { team, agents } = await teamOf();
        const other = team.anotherInstance();
        for (const calls of history) {
          await Promise.all(calls.map((one, index) => perform(team, index % 2 === 0 ? team.app : other, agents, one)));
          await team.assertBooks();
        }
        assert.equal(await entriesLeft(team, agents), 0);
      },
    );
  });

  it('are rebuilt from the held tasks, with the files that runners reported', async () => {
    const { team, agents } = await teamOf();
    await team.begin();
    await team.order();
    const { id = '', epoch } = await team.take();
    await team.ask('heartbeat_task', { taskId: String(id), epoch: Number(epoch), files: ['src/x.ts'] });
    for (const agent of agents) await team.claim(agent);
    const { session } = await team.task(String(id));
    const right = await team.entries(String(id));
    assert.ok(Object.keys(right).length > 2);
    const ports = { ...team.app.coordination.ports, store: team.app.kernel.store, sweepRecord: team.sweepRecord };
    const rebuilding = { database: firestore(), ports, isDry: false, say: () => undefined };
    assert.equal(await rebuildSession(rebuilding, session), false);
    const document = firestore().doc(heldFilesPath(session));
    const [first = ''] = Object.keys(right).filter((one) => one !== id);
    await document.update({ [`tasks.${first}`]: FieldValue.delete(), 'tasks.gone': right[first] });
    assert.equal(await rebuildSession({ ...rebuilding, isDry: true }, session), true);
    assert.equal(await rebuildSession(rebuilding, session), true);
    assert.deepEqual(await team.entries(String(id)), right);
    await document.delete();
    assert.equal(await rebuildSession(rebuilding, session), true);
    await team.assertBooks();
  });
});
