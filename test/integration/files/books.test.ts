/** The reservations are those of the held tasks after any history of calls, also of instances that are killed. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { FieldValue } from '@google-cloud/firestore';
import fc from 'fast-check';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { heldFilesPath } from '../../../functions/src/kernel/firestore/paths.ts';
import { rebuildSession } from '../../../scripts/rebuild/files.ts';
import { defaultOrNightly } from '../../support/nightly.ts';
import { inRuns } from '../../support/properties.ts';
import { FileTeam } from './fixture.ts';
import { CALLS, GLOBS, perform, type RandomCall } from './histories.ts';

const RUNS = defaultOrNightly(4, { night: 60 });
const KILLS = defaultOrNightly(6, { night: 501 });
const AT_ONCE = 3;
const PROGRAM = new URL('workProgram.ts', import.meta.url).pathname;

const call: fc.Arbitrary<RandomCall> = fc.tuple(
  fc.oneof({ weight: 4, arbitrary: fc.constantFrom('claim', 'complete') }, fc.constantFrom(...CALLS)),
  fc.nat(3),
  fc.nat(20),
);

async function teamOf(): Promise<{ readonly team: FileTeam; readonly agents: readonly string[] }> {
  const team = new FileTeam();
  const agents = await Promise.all(['ann', 'bob', 'cleo', 'dan'].map((name) => team.join(name)));
  await team.naming(...GLOBS, ...GLOBS);
  return { team, agents };
}

/** Ends all leases, and asserts that no reservation is left. */
async function assertNothingLeft(team: FileTeam, agents: readonly string[]): Promise<void> {
  for (let sweeps = 0; sweeps < 2; sweeps++) {
    team.pass(24 * 3600);
    for (const agent of agents) await team.app.access.ports.presence.remove(agent, team.now);
    await team.sweep();
  }
  const [first] = await team.tasks();
  assert.deepEqual(await team.entries(first?.id ?? ''), {});
  await team.assertBooks();
}

/** Runs an instance that makes random calls and prints a character after each, and kills it during one of them. */
async function workUntilKilled(team: FileTeam, agents: readonly string[], seed: number): Promise<void> {
  const args = JSON.stringify({ workspace: team.workspace, agents, seed, now: team.now });
  const instance = spawn(process.execPath, [...process.execArgv, PROGRAM, args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(instance, 'exit');
  let calls = 0;
  for await (const ended of instance.stdout) {
    calls += String(ended).length;
    if (calls > (seed * 5) % 12) instance.kill('SIGKILL');
  }
  assert.equal((await exit)[1], 'SIGKILL');
}

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
        await assertNothingLeft(team, agents);
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

  it(`are all removed after ${KILLS} kills of instances during calls`, async () => {
    const { team, agents } = await teamOf();
    for (let kills = 0; kills < KILLS; kills += AT_ONCE) {
      await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => workUntilKilled(team, agents, kills + index)));
      await team.assertBooks();
    }
    const held = (await team.tasks()).filter(({ claim_epoch }) => claim_epoch > 0).length;
    assert.ok(held > 0, 'the instances claimed no task');
    await assertNothingLeft(team, agents);
  });
});
