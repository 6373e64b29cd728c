/** Retention: ended data is deleted after its retention period, unless an open item refers to it. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Firestore } from '@google-cloud/firestore';
import { type GraphNode, keyOfNode, nodeFromDocument, nodeKey } from '../../../functions/src/graph/rules/graphNode.ts';
import { agentPath, COLLECTIONS, graphPath, runPath, taskPath } from '../../../functions/src/kernel/firestore/paths.ts';
import { agentMetricsPath, realtimeDatabase } from '../../../functions/src/kernel/realtime/database.ts';
import type { RetentionDays, SweepContext, SweepJob } from '../../../functions/src/kernel/sweep.ts';
import type { Task } from '../../../functions/src/toolsets/coordination/rules/task.ts';
import { asRead, storedVersions } from '../../stored/documents.ts';
import { sweepContextAt } from '../../unit/kernel/sweepContext.ts';
import { CodingTeam, entry, fields } from '../coding/calls.ts';
import { answer } from '../coordination/calls.ts';
import { Team, unkeyed } from '../coordination/team.ts';
import { recount } from '../lostResponses/recount.ts';

const DAY = 86_400;
const KEPT: RetentionDays = { events: 30, trail: 60, logs: 10, runs: 20, tasks: 40, agents: 50 };
const FOR_EVER: RetentionDays = { events: 0, trail: 0, logs: 0, runs: 0, tasks: 0 };

describe('retention', function () {
  this.timeout('2m');
  /** A separate project, because the test deletes all old data of a project. */
  const database = new Firestore({ projectId: `demo-muster-retention-${randomUUID().slice(0, 8)}` });
  after(() => database.terminate());
  beforeEach(async () => {
    for (const one of [COLLECTIONS.tasks, COLLECTIONS.runs]) await database.recursiveDelete(database.collection(one));
  });

  const bindings = (retention = KEPT) => ({ database, retention });

  /** Runs the retention parts of the sweep, and returns what each part has deleted. */
  async function sweep({ app, now }: Team, more: Partial<SweepContext> = {}): Promise<readonly string[]> {
    const parts: readonly SweepJob[] = [...app.retention.parts, ...app.retention.records];
    const swept: string[] = [];
    for (const part of parts) {
      const { counts, isBehind } = await part.run(sweepContextAt(now, more));
      const removed = Number(counts['removed'] ?? 0);
      if (removed > 0 || isBehind) swept.push(`${part.name}: ${removed}${isBehind ? ', behind' : ''}`);
    }
    return swept;
  }

  const isThere = async (path: string): Promise<boolean> => (await database.doc(path).get()).exists;

  describe('records', () => {
    const collections = ['events', 'audit', 'mail', 'trail'] as const;

    /** Creates `count` records of each kind that are `days` old. */
    async function record(team: Team, days: number, count: number): Promise<void> {
      const at = new Date(team.now.getTime() - days * DAY * 1000);
      const writer = database.bulkWriter();
      for (const collection of collections)
        for (let number = 0; number < count; number++)
          void writer.create(database.collection(collection).doc(), { timestamp: at, created_at: at, at });
      await writer.close();
    }

    const left = () =>
      Promise.all(collections.map(async (one) => (await database.collection(one).count().get()).data().count));

    beforeEach(async () => {
      for (const one of collections) await database.recursiveDelete(database.collection(one));
    });

    it('are deleted after their retention period, in any number', async () => {
      const team = new Team(bindings());
      await record(team, 61, 320);
      await record(team, 31, 5);
      await record(team, 29, 2);
      assert.deepEqual(await sweep(team), ['events kept: 325', 'audit kept: 325', 'mail kept: 325', 'trail kept: 320']);
      assert.deepEqual(await left(), [2, 2, 2, 7]);
      assert.deepEqual(await sweep(team), []);
    });

    it('are kept indefinitely if no period is set', async () => {
      const team = new Team(bindings(FOR_EVER));
      await record(team, 10_000, 1);
      assert.deepEqual(await sweep(team), []);
      assert.deepEqual(await left(), [1, 1, 1, 1]);
    });

    it('are deleted once an hour; each sweep continues where the previous one stopped', async () => {
      const team = new Team(bindings());
      await record(team, 90, 1);
      team.pass(60);
      assert.deepEqual(await sweep(team), []);
      team.pass(-60);
      const found = (await sweep(team, { isOver: () => true })).filter((line) => line.startsWith('events'));
      assert.deepEqual(found, ['events kept: 0, behind']);
      team.pass(60);
      assert.ok((await sweep(team, { from: { at: team.now, id: 'events' } })).includes('events kept: 1'));
    });
  });

  describe('tasks', () => {
    async function finished(team: Team, agentId: string, ...tasks: readonly Task[]): Promise<void> {
      for (const { id } of tasks) {
        assert.equal(await team.claim(agentId), id);
        await team.start(agentId, id);
        await team.complete(agentId, id);
      }
    }

    it('are deleted after their retention period, and counters and dependents stay correct', async () => {
      const team = new Team(bindings());
      const agentId = await team.join('one');
      const [first, second, third] = await team.create(
        { priority: 1 },
        { priority: 2, dependencies: ['task-1'] },
        { priority: 3, dependencies: ['task-2'] },
      );
      assert.ok(first && second && third);
      await finished(team, agentId, first);
      const below = ['results/1-0', 'messages/agent-1-message-1'].map((one) => `${taskPath(first.id)}/${one}`);
      for (const path of below) await database.doc(path).set({ workspace: 'default' });
      team.pass(41 * DAY);
      assert.deepEqual(await sweep(team), [], 'the completed task is kept while its dependent is available');
      await finished(team, agentId, second);
      assert.deepEqual(await sweep(team), ['tasks kept: 1'], 'the dependent is never retried');
      assert.deepEqual([await isThere(taskPath(first.id)), await isThere(taskPath(second.id))], [false, true]);
      for (const path of below) assert.equal(await isThere(path), false, path);
      assert.deepEqual(await recount(team, database), []);
      assert.deepEqual(await team.counts(), { available: 1, done: 1 });
      await finished(team, agentId, third);
      assert.deepEqual(await sweep(team), []);
      const seen = await answer(team, 'coordination_get_status', {});
      assert.equal(fields(seen['tasks'])['done'], 2);
      team.pass(41 * DAY);
      assert.deepEqual(await sweep(team), ['tasks kept: 2'], 'the dependencies of a task do not prevent its deletion');
      assert.deepEqual(await team.counts(), {});
      assert.deepEqual(await recount(team, database), []);
    });

    it('are kept while a dependent can be retried, and can be retried once that dependent is gone', async () => {
      const team = new Team(bindings());
      const agentId = await team.join('one');
      const [failing, waiting] = await team.create({ priority: 1 }, { priority: 2, dependencies: ['task-1'] });
      assert.ok(failing && waiting);
      await team.claim(agentId);
      await team.start(agentId, failing.id);
      await team.fail(agentId, failing.id);
      await answer(team, 'coordination_cancel_task', { task_id: waiting.id });
      team.pass(50 * DAY);
      assert.deepEqual(await sweep(team), ['tasks kept: 1']);
      assert.deepEqual([await isThere(taskPath(failing.id)), await isThere(taskPath(waiting.id))], [true, false]);
      await answer(team, 'coordination_retry_task', { task_id: failing.id });
      await finished(team, agentId, await team.task(failing.id));
    });

    it('are deleted even if their dependency and dependent were already deleted by hand', async () => {
      const team = new Team(bindings());
      const agentId = await team.join('one');
      const [before, middle, after] = await team.create(
        { priority: 1 },
        { priority: 2, dependencies: ['task-1'] },
        { priority: 3, dependencies: ['task-2'] },
      );
      assert.ok(before && middle && after);
      await finished(team, agentId, before, middle);
      for (const { id } of [before, after]) await database.doc(taskPath(id)).delete();
      team.pass(41 * DAY);
      assert.deepEqual(await sweep(team), ['tasks kept: 1']);
      assert.equal(await isThere(taskPath(middle.id)), false);
    });

    it('are kept while they are parts of an open task', async () => {
      const team = new Team(bindings());
      const agentId = await team.join('one');
      const whole = await team.createOne({ priority: 9 });
      const part = await answer(team, 'coordination_create_task', {
        description: 'A part',
        priority: 1,
        part_of: { kind: 'task', id: whole.id },
      });
      const id = String(fields(part['task'])['id']);
      await finished(team, agentId, await team.task(id));
      team.pass(50 * DAY);
      assert.deepEqual(await sweep(team), []);
      await finished(team, agentId, await team.task(whole.id));
      assert.deepEqual(await sweep(team), ['tasks kept: 1']);
      assert.equal(await isThere(taskPath(id)), false);
      const node = nodeFromDocument((await database.doc(graphPath(nodeKey({ kind: 'task', id }))).get()).data());
      assert.equal(node.deleted, true, 'the totals are kept');
    });

    it('are deleted even if an earlier version of Muster has stored them', async () => {
      const team = new Team(bindings());
      const closed = storedVersions('firestore', 'tasks').flatMap(({ version, documents }) =>
        Object.values(documents).flatMap((document) => {
          const task: Record<string, unknown> = { ...Object(asRead(document)) };
          const id = `old-${version}-${String(task['id'])}`;
          return task['completed_at'] === null ? [] : [{ ...task, id, dependencies: [], dependents: [] }];
        }),
      );
      assert.ok(closed.length > 0);
      for (const task of closed) await database.doc(taskPath(task.id)).set(task);
      await sweep(team);
      for (const { id } of closed) assert.equal(await isThere(taskPath(id)), false, id);
    });
  });

  it('deletes the logs of tasks that have ended, and keeps the logs of open tasks', async () => {
    const team = await new CodingTeam(bindings()).begin();
    const taskId = await team.order();
    await team.take();
    await team.log(taskId, 1, [entry(0), entry(1)]);
    team.pass(11 * DAY);
    assert.deepEqual(await sweep(team), [], 'the log of an open task is kept');
    await answer(team, 'coordination_cancel_task', { task_id: taskId });
    assert.deepEqual(await sweep(team), [], 'the log of a task that has just ended is kept');
    team.pass(11 * DAY);
    assert.deepEqual(await sweep(team), ['logs kept: 1']);
    assert.equal(await isThere(taskPath(taskId)), true);
    const logs = await team.ask('get_task_logs', { taskId }, team.creator);
    assert.deepEqual(logs['entries'], []);
  });

  it('deletes ended runs with steps and journal, unless they are parts of an open task', async () => {
    const team = new Team(bindings());
    const { documents } = storedVersions('firestore', 'runs').at(-1) ?? assert.fail('no stored version');
    const stored = { ...Object(asRead(documents['full'])), ancestors: null, part_of: null };
    const ended = new Date(team.now.getTime() - 21 * DAY * 1000);
    const whole = await team.createOne();
    const parent: GraphNode = {
      kind: 'task',
      thing_id: whole.id,
      title: 'The whole',
      workspace: team.workspace,
      status: 'open',
      attempts: 0,
      spent: { input_tokens: 0, output_tokens: 0, cost_usd: 0, milliseconds: 0 },
      created_at: team.now,
    };
    const { version } = (await team.app.coordination.ports.tasks.find(whole.id)) ?? assert.fail('task not found');
    await team.app.kernel.store.commit([{ kind: 'addNode', node: parent, version }]);
    const part = { ancestors: [keyOfNode(parent)], part_of: { kind: 'task', id: whole.id } };
    const runs: Readonly<Record<string, object>> = {
      gone: { ended_at: ended, status: 'succeeded' },
      recent: { ended_at: team.now, status: 'succeeded' },
      live: { ended_at: null, status: 'waiting' },
      part: { ended_at: ended, status: 'succeeded', ...part },
    };
    for (const [id, fields] of Object.entries(runs)) {
      await database.doc(runPath(id)).set({ ...stored, id, ...fields });
      await database.doc(`${runPath(id)}/order/1`).set({ input: 'x' });
      await database.doc(`${runPath(id)}/steps/one-1`).set({ number: 1 });
    }
    assert.deepEqual(await sweep(team), ['runs kept: 1']);
    const ids = (await database.collection(COLLECTIONS.runs).listDocuments()).map(({ id }) => id);
    assert.deepEqual(ids.sort(), ['live', 'part', 'recent']);
    assert.equal(await isThere(`${runPath('gone')}/steps/one-1`), false);
    assert.equal(await isThere(`${runPath('live')}/order/1`), true);
  });

  describe('agents', () => {
    const skill = (name: string, workspace: string) => `skills/capability.${name}@${workspace}`;
    const metrics = async (id: string) => (await (await realtimeDatabase()).ref(agentMetricsPath(id)).get()).val();

    /** Registers a terminal, which has no credential. */
    async function terminal(team: Team, name: string, capabilities: readonly string[] = []): Promise<string> {
      const agentId = team.agentId(name);
      const request = { agentId, role: 'worker' as const, workspace: team.workspace, capabilities };
      await team.app.services.membership.join(team.principal('caller'), request, unkeyed);
      return agentId;
    }

    async function settle(team: Team): Promise<void> {
      await team.sweep();
      team.pass(DAY);
      await team.sweep();
    }

    it('are deleted if not seen during the period, with their skills, counts and metrics', async () => {
      const team = new Team(bindings());
      const old = await terminal(team, 'old', ['rust', 'shared']);
      await team.app.access.ports.presence.touch(old);
      await (await realtimeDatabase()).ref(agentMetricsPath(old)).set({ calls: 1, since: 1 });
      await settle(team);
      team.pass(51 * DAY);
      const young = await terminal(team, 'young', ['shared']);
      await team.app.access.ports.presence.touch(young);
      const before = await team.app.access.ports.directory.counts(team.workspace);
      assert.equal(before.registered, 2);
      assert.deepEqual(await sweep(team), ['agents kept: 1']);
      assert.deepEqual([await isThere(agentPath(old)), await isThere(agentPath(young))], [false, true]);
      assert.equal((await team.app.access.ports.directory.counts(team.workspace)).registered, 1);
      assert.equal(await isThere(skill('rust', team.workspace)), false);
      assert.equal((await database.doc(skill('shared', team.workspace)).get()).get('agents'), 1);
      assert.equal(await metrics(old), null);
      assert.deepEqual(await recount(team, database), []);
      assert.equal(await terminal(team, 'old', ['rust']), old, 'the agent can register again');
      assert.deepEqual(await recount(team, database), []);
    });

    it('are kept if they hold a task or have a credential, or if no period is set', async () => {
      const team = new Team(bindings());
      const holder = await terminal(team, 'holder');
      await team.createOne();
      await team.claimOutcome(holder, 100 * DAY);
      const credentialed = await terminal(team, 'credentialed');
      await database
        .doc(`credentials/key-${credentialed}`)
        .set({ agent_id: credentialed, api_key: `key-${credentialed}` });
      for (const id of [holder, credentialed]) await team.app.access.ports.presence.touch(id);
      await settle(team);
      team.pass(51 * DAY);
      assert.deepEqual(await sweep(team), []);
      for (const id of [holder, credentialed]) assert.ok(await isThere(agentPath(id)), id);
      const other = new Team(bindings(FOR_EVER));
      const kept = await terminal(other, 'kept');
      await other.app.access.ports.presence.touch(kept);
      await settle(other);
      other.pass(5000 * DAY);
      await sweep(other);
      assert.ok(await isThere(agentPath(kept)));
    });
  });

  describe('the graph and archived sessions', () => {
    const node = (id: string, ancestors: readonly string[], deleted: boolean, at: Date) =>
      database.doc(graphPath(id)).set({ ancestors, deleted, created_at: at });

    it('removes trees of items if all their items are deleted, and keeps all other trees complete', async () => {
      await database.recursiveDelete(database.collection(COLLECTIONS.graph));
      const team = new Team(bindings());
      const { now } = team;
      await node('todo-dead', [], true, now);
      await node('task-dead-1', ['todo-dead'], true, now);
      await node('task-dead-2', ['todo-dead', 'task-dead-1'], true, now);
      await node('todo-half', [], true, now);
      await node('task-half', ['todo-half'], false, now);
      await node('todo-living', [], false, now);
      await node('task-gone', ['todo-living'], true, now);
      await node('task-orphan', ['todo-long-gone'], true, now);
      await node('todo-young', [], true, new Date(now.getTime() + 41 * DAY * 1000));
      team.pass(41 * DAY);
      assert.deepEqual(await sweep(team), ['graph kept: 4']);
      const { docs } = await database.collection(COLLECTIONS.graph).get();
      const left = ['task-gone', 'task-half', 'todo-half', 'todo-living', 'todo-young'];
      assert.deepEqual(docs.map(({ id }) => id).sort(), left);
    });

    it('removes an archived session with its counters when all its tasks are deleted', async () => {
      const team = new Team(bindings());
      const agentId = await team.join('one');
      await answer(team, 'coordination_init_coordination', { goal: 'First' });
      const { session } = await team.createOne();
      const task = (await team.claim(agentId)) ?? '';
      await team.start(agentId, task);
      await team.complete(agentId, task);
      await answer(team, 'coordination_init_coordination', { goal: 'Another' });
      const path = `workspaces/${team.workspace}/archive/${session}`;
      await database.doc(path).update({ cleared: true });
      team.pass(41 * DAY);
      assert.deepEqual(await sweep(team), ['tasks kept: 1', 'archive kept: 1']);
      assert.equal(await isThere(path), false);
      const counters = `workspaces/${team.workspace}/sessions/${session}/counters`;
      assert.ok((await database.collection(counters).get()).empty);
    });
  });
});
