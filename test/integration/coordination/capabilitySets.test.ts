/** A session stores which capability sets its open tasks require. At the limit, it drops the unused sets. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Change } from '../../../functions/src/composition/changes.ts';
import { StaleWriteError } from '../../../functions/src/kernel/commit.ts';
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import { claimableKeys } from '../../../functions/src/toolsets/coordination/rules/claims.ts';
import {
  capabilityKey,
  isClosed,
  MAX_CAPABILITY_KEYS,
} from '../../../functions/src/toolsets/coordination/rules/task.ts';
import { sampleTask } from '../../support/builders.ts';
import { IS_NIGHTLY } from '../../support/nightly.ts';
import { inRuns } from '../../support/properties.ts';
import { refusal } from '../../support/refusal.ts';
import { CodingTeam } from '../coding/calls.ts';
import { Team, unkeyed } from './team.ts';

const requiring = (...sets: readonly string[]) => sets.map((one) => ({ required_capabilities: [one] }));
const numbered = (count: number, name = 'skill') => Array.from({ length: count }, (_, index) => `${name}-${index}`);

/** Returns drafts of tasks that require the maximum number of different sets. */
const full = () => requiring(...numbered(MAX_CAPABILITY_KEYS));

async function openOf(team: Team) {
  return (await team.app.coordination.ports.sessions.current(team.workspace)) ?? assert.fail('no session is open');
}

const cancel = (team: Team, taskId: string) =>
  team.app.services.taskLevers.cancel(team.leader, { taskId, reason: undefined }, unkeyed);

const retry = (team: Team, taskId: string, withDependents = false) =>
  team.app.services.taskLevers.retry(team.leader, { taskId, withDependents }, unkeyed);

const update = (team: Team, taskId: string, set: string) =>
  team.app.services.taskUpdates.update(team.leader, { taskId, required_capabilities: [set] }, unkeyed);

async function everySetIsNamed(team: Team): Promise<void> {
  const { session } = await openOf(team);
  const open = (await team.tasks()).filter(({ status }) => !isClosed(status));
  for (const { required_capabilities: required } of open)
    assert.ok(claimableKeys(session, required).includes(capabilityKey(required)), required.join());
}

describe('a session with required capability sets', () => {
  let team: Team;
  beforeEach(() => {
    team = new Team();
  });

  it('allows 150 different sets for its open tasks, and can drop a set when its task is closed', async () => {
    const [first] = await team.create(...full());
    const error = await refusal(() => team.create(...requiring('one-more')));
    assert.equal(error.details.reason, 'TOO_MANY_CAPABILITY_SETS');
    await team.create(...requiring('skill-7', 'SKILL-8'));
    await cancel(team, first?.id ?? '');
    const [task] = await team.create(...requiring('one-more'));
    assert.equal(await team.claim(await team.join('ann', ['one-more'])), task?.id);
    assert.ok((await openOf(team)).session.capability_keys.length <= MAX_CAPABILITY_KEYS);
  });

  it('accepts 150 new sets after 150 tasks with other sets were cancelled', async () => {
    const tasks = await team.create(...full());
    for (const { id } of tasks) await cancel(team, id);
    const more = await team.create(...requiring(...numbered(MAX_CAPABILITY_KEYS, 'other')));
    assert.equal(await team.claim(await team.join('ann', ['other-149'])), more.at(-1)?.id);
  });

  it('stores the set of a retried task again, and checks the limit when a task is updated', async () => {
    const [first, , third] = await team.create(...full());
    const [after] = await team.create({ required_capabilities: ['skill-1'], dependencies: [first?.id ?? ''] });
    for (const one of [first, after, third]) await cancel(team, one?.id ?? '');
    await team.create(...requiring('one-more'));
    assert.ok(!(await openOf(team)).session.capability_keys.includes('skill-0'), 'the unused set was dropped');
    await retry(team, first?.id ?? '', true);
    assert.equal(await team.claim(await team.join('ann', ['skill-0'])), first?.id);
    const refused = await refusal(() => update(team, first?.id ?? '', 'yet-another'));
    assert.equal(refused.details.reason, 'TOO_MANY_CAPABILITY_SETS');
  });

  it('does not count the sets of coding tasks, which remain claimable at the limit', async () => {
    const coding = await new CodingTeam().begin();
    for (let n = 0; n < 5; n++) await coding.order({ config: { project: `acme/repo-${n}` } });
    await coding.create(...full());
    assert.equal((await openOf(coding)).session.capability_keys.length, MAX_CAPABILITY_KEYS);
    const taskId = await coding.order({ config: { project: 'acme/new' } });
    assert.equal((await coding.take({ project: 'acme/new' }))['id'], taskId);
    const other = await coding.order({ config: { project: 'acme/queue' } });
    const queue = await coding.join('queue', ['Claude', 'project:acme/queue']);
    assert.equal(await coding.claim(queue), other, 'coordination.claim_task returns the coding task too');
  });

  describe('with concurrent changes', () => {
    let known: { readonly session: Awaited<ReturnType<typeof openOf>>['session']; readonly changes: Change[] };

    /** Prepares a new task whose set no open task requires. But when the session was read, it had this set. */
    beforeEach(async () => {
      const [first] = await team.create(...full());
      await cancel(team, first?.id ?? '');
      const { session } = await openOf(team);
      const place = { workspace: team.workspace, session: session.id, created_at: team.now };
      const task = sampleTask({ ...place, id: `${team.workspace}-late`, required_capabilities: ['skill-0'] });
      known = {
        session,
        changes: [
          { kind: 'createTask', task },
          { kind: 'queueGrew', session, capability_keys: [] },
        ],
      };
    });

    it("rejects a commit of a new task if the task's set was dropped after the session was read", async () => {
      await team.create(...requiring('one-more'));
      await assert.rejects(team.app.kernel.store.commit(known.changes), StaleWriteError);
      // The commit must also fail if the queue version's shards have doubled in number since the session was read.
      const { session, sessionVersion: version } = await openOf(team);
      const wider = { ...session, spread: 2 * session.spread };
      const spread = { kind: 'shardSession' as const, session: wider, before: session.spread, version };
      await team.app.kernel.store.commit([spread]);
      await assert.rejects(team.app.kernel.store.commit(known.changes), StaleWriteError);
    });

    it('keeps an unused set if a task that requires the set is created before the drop commits', async () => {
      const { sessions } = team.app.coordination.ports;
      const { store } = team.app.kernel;
      const { session, sessionVersion: version } = await openOf(team);
      const { shards, disused } = await sessions.unusedShards(session, session.capability_keys, 1);
      assert.deepEqual(disused, ['skill-0']);
      await store.commit(known.changes);
      const capabilityKeys = session.capability_keys.filter((key) => key !== 'skill-0');
      const forget = {
        kind: 'renewCapabilityKeys' as const,
        session,
        capability_keys: capabilityKeys,
        gates: shards,
        version,
      };
      await assert.rejects(store.commit([forget]), StaleWriteError);
      assert.equal(await team.claim(await team.join('ann', ['skill-0'])), `${team.workspace}-late`);
    });
  });

  it('stores the set of every open task after concurrent changes of its tasks', async function () {
    this.timeout(300_000);
    const sets = numbered(6, 'set');
    const set = fc.constantFrom(...sets);
    const index = fc.nat(30);
    const kind = fc.constantFrom('create' as const, 'cancel' as const, 'retry' as const, 'update' as const);
    const act = fc.record({ act: kind, set, index });
    await inRuns(IS_NIGHTLY ? 30 : 2).forAllAsync(
      fc.array(fc.array(act, { minLength: 3, maxLength: 5 }), { minLength: 5, maxLength: 6 }),
      async (rounds) => {
        const here = new Team();
        await here.create(...requiring(...numbered(MAX_CAPABILITY_KEYS - 3, 'taken')));
        const ids: string[] = [];
        const acts = {
          create: async (_id: string, name: string) =>
            void ids.push(...(await here.create(...requiring(name))).map(({ id }) => id)),
          cancel: (id: string) => cancel(here, id),
          retry: (id: string) => retry(here, id),
          update: (id: string, name: string) => update(here, id, name),
        };
        const run = ({ act: kind, set: name, index: at }: (typeof rounds)[number][number]) =>
          acts[kind](ids[at % Math.max(1, ids.length)] ?? 'task-none', name);
        for (const round of rounds) {
          const results = await Promise.allSettled(round.map(run));
          for (const result of results)
            if (result.status === 'rejected') assert.ok(result.reason instanceof MusterError, result.reason);
          await everySetIsNamed(here);
        }
      },
    );
  });
});
