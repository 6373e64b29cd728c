/** Single commits of the store to Firestore. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { withHeldTask } from '../../../functions/src/agents/rules/agent.ts';
import { FirestoreAgentQueries } from '../../../functions/src/agents/store/agents.ts';
import {
  type Change,
  changeEffects,
  changeLoosening,
  changeWriters,
} from '../../../functions/src/composition/changes.ts';
import { StaleWriteError } from '../../../functions/src/kernel/commit.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { agentPath } from '../../../functions/src/kernel/firestore/paths.ts';
import {
  CommitWrites,
  FirestoreRecordedResponseQueries,
  FirestoreStore,
} from '../../../functions/src/kernel/firestore/store.ts';
import { systemRandomness } from '../../../functions/src/kernel/platform.ts';
import { FirestoreTaskQueries } from '../../../functions/src/toolsets/coordination/store/queries.ts';
import { FirestoreSessionQueries, ShardCounts } from '../../../functions/src/toolsets/coordination/store/sessions.ts';
import { START, sampleAgent, sampleTask, secondsAfterStart } from '../../support/builders.ts';
import { documents } from '../../support/reading.ts';
import { refusal } from '../../support/refusal.ts';

/** A random source that always selects the same counter shard of a session. */
const oneShard = { ...systemRandomness, integer: () => 0 };

describe('the Firestore store', () => {
  const tasks = new FirestoreTaskQueries(firestore(), documents);
  const agents = new FirestoreAgentQueries(firestore(), documents);
  const sessions = new FirestoreSessionQueries(firestore(), documents, new ShardCounts());
  const recordedResponses = new FirestoreRecordedResponseQueries(firestore(), documents);
  let now = START;
  const store = new FirestoreStore({
    database: firestore(),
    clock: { now: () => now },
    randomness: oneShard,
    effects: changeEffects,
    loosening: changeLoosening,
    writers: changeWriters,
  });
  let id: string;

  const task = (changes = {}) => sampleTask({ id, workspace: id, session: id, ...changes });
  const versionOf = async () => (await tasks.find(id))?.version ?? '';
  const recorded = (expiresInSeconds = 60) => ({
    id,
    arguments_hash: 'hash',
    answer: { rows: [[1, 2], [3]], b: 1, a: null },
    expires_at: secondsAfterStart(expiresInSeconds),
  });

  beforeEach(() => {
    id = `t-${randomUUID().slice(0, 18)}`;
    now = START;
  });

  it('commits nothing if one change is stale', async () => {
    await store.commit([{ kind: 'createTask', task: task() }]);
    const old = await versionOf();
    await store.commit([{ kind: 'replaceTask', task: task({ priority: 2 }), before: task(), version: old }]);
    const changes: Change[] = [
      { kind: 'createAgent', agent: sampleAgent({ id }) },
      { kind: 'replaceTask', task: task({ priority: 3 }), before: task(), version: old },
    ];
    await assert.rejects(store.commit(changes, { response: recorded() }), StaleWriteError);
    assert.equal((await tasks.find(id))?.value.priority, 2);
    assert.equal(await agents.find(id), undefined);
    assert.equal(await recordedResponses.find(id), undefined);
  });

  it('reports the new version of a task or run that the first change replaces', async () => {
    await store.commit([{ kind: 'createTask', task: task() }]);
    const versions: string[] = [];
    const replaced = { kind: 'replaceTask', task: task({ priority: 2 }), before: task() } as const;
    const onVersion = (version: string) => versions.push(version);
    await store.commit([{ ...replaced, version: await versionOf() }], { onVersion });
    assert.deepEqual(versions, [await versionOf()]);
  });

  it('rejects a commit as stale if it expects two versions of one document', async () => {
    await store.commit([{ kind: 'createTask', task: task() }]);
    const at = (priority: number, version: string): Change => {
      return { kind: 'replaceTask', task: task({ priority }), before: task(), version };
    };
    const old = await versionOf();
    await store.commit([at(2, old)]);
    const now = await versionOf();
    const done: Change = { kind: 'dependencyDone', taskId: id };
    for (const changes of [
      [at(3, old), at(4, now)],
      [at(3, now), at(4, old)],
      [done, at(4, now)],
    ])
      await assert.rejects(store.commit(changes, { response: recorded() }), StaleWriteError);
    assert.equal((await tasks.find(id))?.value.priority, 2);
    assert.equal(await recordedResponses.find(id), undefined);
    await store.commit([at(3, now), at(5, now), done]);
    assert.equal((await tasks.find(id))?.value.priority, 5);
  });

  it('rejects a second write to a document in one commit if only this write expects a version', () => {
    const path = agentPath(id);
    const agent = sampleAgent({ id });
    for (const write of [
      (writes: CommitWrites) => writes.replace(path, { name: 'b' }, '2.0'),
      (writes: CommitWrites) => writes.replaceLatest(path, { name: 'b' }, '2.0'),
      (writes: CommitWrites) => writes.deleteAt(path, '2.0'),
      (writes: CommitWrites) =>
        changeWriters.holdTask({ kind: 'holdTask', agent, taskId: 'task-1', version: '2.0' }, writes),
    ]) {
      const writes = new CommitWrites(firestore(), oneShard, now, new Set());
      writes.merge(path, { name: 'a' });
      assert.throws(() => write(writes), StaleWriteError);
    }
  });

  it('skips a dependent that is missing, but checks and applies the other changes of the commit', async () => {
    const missing: Change = { kind: 'dependencyDone', taskId: `${id}-gone` };
    await store.commit([{ kind: 'createTask', task: task({ blockers: 1 }) }, missing], { response: recorded() });
    await store.commit([missing, { kind: 'dependencyDone', taskId: id }]);
    assert.equal((await tasks.find(id))?.value.blockers, 0);
    assert.ok(await recordedResponses.find(id));
    assert.equal(await tasks.find(`${id}-gone`), undefined);
    const old = await versionOf();
    await store.commit([{ kind: 'dependencyDone', taskId: id }]);
    const replaced: Change = { kind: 'replaceTask', task: task(), before: task(), version: old };
    await assert.rejects(store.commit([missing, replaced]), StaleWriteError);
  });

  it('rejects as stale the creation of an existing document and the change of a missing one', async () => {
    await store.commit([{ kind: 'createTask', task: task() }]);
    await assert.rejects(store.commit([{ kind: 'createTask', task: task() }]), StaleWriteError);
    for (const spread of [0, 8]) {
      const session = { workspace: id, id, spread, first_gate: 0 };
      const grew: Change = { kind: 'queueGrew', session, capability_keys: [] };
      await assert.rejects(store.commit([grew]), StaleWriteError, 'the session does not exist');
    }
  });

  it('replaces all fields of a task, and removes fields that the new task does not have', async () => {
    const claim = { claimed_by: 'a', claim_epoch: 1, claimed_at: START, lease_seconds: 1, lease_expires_at: START };
    const full = task({
      claim_epoch: 1,
      claim,
      status: 'claimed',
      retry_at: START,
      error: 'x',
      result: { output: 'y' },
    });
    await store.commit([{ kind: 'createTask', task: full }]);
    assert.deepEqual((await tasks.find(id))?.value, full);
    await store.commit([{ kind: 'replaceTask', task: task(), before: task(), version: await versionOf() }]);
    assert.deepEqual((await tasks.find(id))?.value, task());
  });

  it('adds counts to the counters of a session; an empty count changes no counter', async () => {
    const count = (by: object, at: Date): Change => ({ kind: 'count', workspace: id, session: id, by, at });
    await store.commit([count({ available: 3 }, START)]);
    await store.commit([count({ available: -1, claimed: 1 }, START)]);
    await store.commit([count({}, secondsAfterStart(9))]);
    const { counts, lastActivity } = await sessions.counters(id, id);
    assert.deepEqual([counts.available, counts.claimed, counts.done], [2, 1, 0]);
    assert.deepEqual(lastActivity, secondsAfterStart(9));
  });

  it('returns zero counts and no last activity for a session without counts', async () => {
    const { counts, lastActivity } = await sessions.counters(id, id);
    assert.deepEqual([new Set(Object.values(counts)), lastActivity], [new Set([0]), undefined]);
  });

  it('adds a claimed task to the held tasks of the agent, and removes a released task', async () => {
    const hand = { session: id, claim_epoch: 4 };
    await store.commit([{ kind: 'createAgent', agent: sampleAgent({ id, status: 'offline' }) }]);
    for (const taskId of ['task-a.b-001', 'task-2']) {
      const known = await agents.find(id);
      assert.ok(known);
      const agent = withHeldTask(known.value, taskId, hand, secondsAfterStart(9));
      await store.commit([{ kind: 'holdTask', agent, taskId, version: known.version }]);
      assert.deepEqual((await agents.find(id))?.value, agent);
    }
    const held = (await agents.find(id))?.value;
    assert.deepEqual([held?.held, held?.status], [{ 'task-a.b-001': hand, 'task-2': hand }, 'active']);
    const at = secondsAfterStart(20);
    const drop = (taskId: string, wasHeld: boolean, status?: 'done' | 'failed'): Change => ({
      kind: 'releaseTask',
      agentId: id,
      taskId,
      wasHeld,
      ...(status && { closed: { status, at, milliseconds: 100 } }),
    });
    await store.commit([drop('task-a.b-001', true, 'done')]);
    await store.commit([drop('task-2', true, 'failed')]);
    await store.commit([drop('task-2', false)]);
    const after = (await agents.find(id))?.value;
    assert.deepEqual([after?.held, after?.tasks_completed, after?.tasks_failed], [{}, 1, 1]);
    assert.deepEqual([after?.work_milliseconds, after?.last_failed, after?.last_completed_at], [200, true, at]);
    const stored = await firestore().doc(agentPath(id)).get();
    assert.deepEqual([stored.get('held_count'), stored.get('free_slots')], [0, 1]);
  });

  it('stores any JSON in the capabilities of an agent', async () => {
    const parameters = { matrix: [[1, [2]], []], __x__: { '': null }, 'a.b/c': 1e308, deep: { a: { b: [{}] } } };
    const agent = sampleAgent({ id, capability_details: [{ name: 'x', category: 'y', parameters }] });
    await store.commit([{ kind: 'createAgent', agent }]);
    assert.deepEqual((await agents.find(id))?.value, agent);
  });

  it('stores the unchanged response of a call together with the changes of the call', async () => {
    await store.commit([{ kind: 'createTask', task: task() }], { response: recorded() });
    assert.deepEqual(await recordedResponses.find(id), recorded());
  });

  it('rejects a second commit with the same key, and applies none of its changes', async () => {
    await store.commit([], { response: recorded() });
    const error = await refusal(() => store.commit([{ kind: 'createTask', task: task() }], { response: recorded() }));
    assert.deepEqual([error.code, error.details.reason], ['CONFLICT', 'ALREADY_SETTLED']);
    assert.equal(await tasks.find(id), undefined);
  });

  it('rejects a commit whose idempotency key has an expired response, and accepts the retry', async () => {
    await store.commit([], { response: recorded(60) });
    now = secondsAfterStart(60);
    await assert.rejects(
      store.commit([], { response: recorded(999) }),
      StaleWriteError,
      'the caller retries and then stores',
    );
    await store.commit([], { response: recorded(999) });
    assert.deepEqual((await recordedResponses.find(id))?.expires_at, secondsAfterStart(999));
  });

  it('reports SIZE_LIMIT_EXCEEDED for a document that would be too large', async () => {
    const huge = task({ description: 'x'.repeat(1_100_000) });
    const error = await refusal(() => store.commit([{ kind: 'createTask', task: huge }]));
    assert.deepEqual([error.code, error.details.reason], ['VALIDATION_ERROR', 'SIZE_LIMIT_EXCEEDED']);
  });

  it('does not report an invalid document id as a stale write', async () => {
    const wrong: Change = { kind: 'createTask', task: task({ id: '..' }) };
    await assert.rejects(store.commit([wrong]), (error) => !(error instanceof StaleWriteError));
  });
});
