/** Unreadable documents: lists skip them, and single reads report their path. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { MusterError } from '../../../functions/src/kernel/errors.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import {
  agentPath,
  discoveryPath,
  runPath,
  sessionPath,
  taskPath,
  todoPath,
} from '../../../functions/src/kernel/firestore/paths.ts';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import {
  busPath,
  METRICS_MINUTES,
  minuteKey,
  queuedTaskPath,
  realtimeDatabase,
} from '../../../functions/src/kernel/realtime/database.ts';
import type { Entry } from '../../../functions/src/toolsets/firebase/rules/ports.ts';
import { sequenceKey } from '../../../functions/src/toolsets/firebase/store/eventLog.ts';
import { refusal } from '../../support/refusal.ts';
import { call } from '../coordination/calls.ts';
import { Team, unkeyed } from '../coordination/team.ts';

/** Repeats the read until its value satisfies the condition, and returns the value. */
async function until<Value>(look: () => Promise<Value>, isThere: (value: Value) => boolean): Promise<Value> {
  for (;;) {
    const value = await look();
    if (isThere(value)) return value;
  }
}

const names = (path: string) => (error: MusterError) =>
  error.code === 'FIREBASE_ERROR' &&
  error.details.reason === 'UNREADABLE_DOCUMENT' &&
  error.message.includes(`"${path}"`) &&
  error.cause === undefined;

describe('unreadable documents', () => {
  let team: Team;

  beforeEach(() => {
    team = new Team();
  });

  /** Makes a task unreadable in such a way that queries still find its document. */
  const breakTask = (taskId: string) => firestore().doc(taskPath(taskId)).update({ claim_epoch: 'none' });

  it('do not block a queue, even if many of its tasks are unreadable', async () => {
    const agent = await team.join('worker');
    const tasks = await team.create(...Array.from({ length: 15 }, () => ({})));
    const [whole, last] = [tasks[13]?.id, tasks[14]?.id];
    await Promise.all(tasks.slice(0, 13).map(({ id }) => breakTask(id)));
    assert.equal(await team.claim(agent), whole);
    await team.complete(agent, String(whole));
    assert.equal(await team.claim(agent), last);
    await team.complete(agent, String(last));
    assert.equal(await team.claim(agent), undefined);
    const { page } = await team.app.services.system.tasks.list(team.leader, {
      workspace: team.workspace,
      includeAssigned: true,
      limit: 20,
    });
    assert.deepEqual([page.tasks, page.truncated], [[], false]);
  });

  it('look to callers outside their workspace like missing documents', async () => {
    const other = new Team();
    const agent = await team.join('worker');
    const [broken, brokenAgent] = [await team.createOne(), await team.join('broken')];
    await breakTask(broken.id);
    await firestore().doc(agentPath(brokenAgent)).update({ held: 'none' });
    const output = async (asked: Team, tool: string, args: JsonObject, name: string) => {
      const { isError, structuredContent } = await call(asked, tool, args, asked.leader);
      assert.equal(isError, true, tool);
      return JSON.stringify(structuredContent).replaceAll(name, '{name}');
    };
    const ofTask: readonly (readonly [tool: string, args: (id: string) => JsonObject])[] = [
      ['coordination_get_results', (id) => ({ task_ids: [id] })],
      ['coordination_create_task', (id) => ({ description: 'A', dependencies: [id] })],
      ['coding_report_task', (id) => ({ taskId: id })],
      ['coding_get_task_logs', (id) => ({ taskId: id })],
      ['coding_update_task', (id) => ({ taskId: id, log: 'Mine' })],
    ];
    for (const [tool, args] of ofTask) {
      const none = await output(other, tool, args('task-none'), 'task-none');
      assert.equal(await output(other, tool, args(broken.id), broken.id), none, tool);
      assert.match(await output(team, tool, args(broken.id), broken.id), /cannot be read/, tool);
    }
    const queue = 'system_getTaskQueue';
    const none = await output(other, queue, { agentId: 'agent-none' }, 'agent-none');
    assert.equal(await output(other, queue, { agentId: brokenAgent }, brokenAgent), none);
    assert.match(await output(team, queue, { agentId: brokenAgent }, brokenAgent), /cannot be read/);
    const start = async (asked: Team, taskId: string) => {
      // The caller has a role only in this workspace, so it is an outsider in the other one.
      const principal = { ...asked.principal('caller'), held_to: asked.workspace };
      const acting = asked.app.services.taskQueue.start(principal, taskId, { agent_id: agent }, unkeyed);
      const { message } = await refusal(() => acting);
      return message.replaceAll(taskId, '{name}');
    };
    assert.equal(await start(other, broken.id), await start(other, 'task-none'));
    assert.match(await start(team, broken.id), /cannot be read/);
  });

  it('include documents that contain another id than their own, but none with unknown fields', async () => {
    const [other, strange, whole] = await team.create({}, {}, {});
    const at = (id: string | undefined) => firestore().doc(taskPath(String(id)));
    await at(other?.id).update({ id: 'a/b' });
    await at(strange?.id).update({ more: at(whole?.id), much: { more: [at(whole?.id)] } });
    const ids = (await team.tasks()).map(({ id }) => id);
    assert.deepEqual(ids, [strange?.id, whole?.id]);
  });

  it('do not prevent their holder from claiming another task', async () => {
    const agent = await team.join('worker');
    const [held, other] = await team.create({}, {});
    assert.equal(await team.claim(agent), held?.id);
    await breakTask(String(held?.id));
    assert.equal(await team.claim(agent), other?.id);
  });

  it('are omitted from lists; the lists continue after them', async () => {
    const tasks = await team.create({}, {}, {}, {}, {});
    const ids = tasks.map(({ id }) => id);
    for (const broken of [0, 2, 3]) await breakTask(String(ids[broken]));
    const { coordination } = team.app.services;
    const list = (after?: { at: Date; id: string }) =>
      coordination.listTasks(team.workspace, undefined, { limit: 1, ...(after && { after }) });
    const first = await list();
    assert.deepEqual([first.items.map(({ id }) => id), first.more], [[ids[1]], true]);
    const [one] = first.items;
    const second = await list(one && { at: one.created_at, id: one.id });
    assert.deepEqual([second.items.map(({ id }) => id), second.more], [[ids[4]], false]);
  });

  it('are reported with their path if a call reads them by id', async () => {
    const { id } = await team.createOne();
    await breakTask(id);
    await assert.rejects(team.task(id), names(taskPath(id)));
    await assert.rejects(team.app.services.coordination.namedTasks(team.workspace, [id]), names(taskPath(id)));
    await assert.rejects(team.createOne({ dependencies: [id] }), names(taskPath(id)));
  });

  it('look to agents of another owner like missing documents', async () => {
    const { todos } = team.app.services;
    const { owner_uid: ownerUid } = team.leader;
    const { id } = await todos.add(ownerUid, { title: 'Mine' }, unkeyed);
    await firestore().doc(todoPath(id)).update({ tags: 'none' });
    await assert.rejects(todos.complete(ownerUid, id, unkeyed), names(todoPath(id)));
    await assert.rejects(todos.complete('another', id, unkeyed), { code: 'NOT_FOUND' });
  });

  it('do not crash a Firestore listener', async () => {
    const id = `run-${randomUUID()}`;
    const end = new AbortController();
    const changes = team.app.orchestration.ports.runs.watch(id, end.signal)[Symbol.asyncIterator]();
    const next = changes.next();
    await firestore().doc(runPath(id)).set({ id, status: 'of tomorrow' });
    await assert.rejects(next, names(runPath(id)));

    const task = await team.createOne();
    const { session, workspace } = task;
    const open = await team.app.coordination.ports.sessions.current(workspace);
    assert.ok(open);
    const mark = { session, readAt: open.readAt };
    const grown = team.app.coordination.ports.queue.growth(workspace, mark, end.signal);
    await firestore().doc(sessionPath(workspace, session)).update({ queue_version: 'none' });
    await grown;
    await assert.rejects(
      team.app.coordination.ports.sessions.current(workspace),
      names(sessionPath(workspace, session)),
    );
  });

  it('do not crash a listener of the Realtime Database', async () => {
    const log = `log-${randomUUID()}`;
    const { events } = team.app.firebase.ports;
    await events.create(log, new Map());
    const entry: Entry = { sequence: 1, writer: 'one', transitions: [] };
    assert.ok(await events.append(log, entry));
    const reported: Entry[] = [];
    const failed = new Promise<unknown>((resolve) => {
      events.follow(log, 1, (each) => reported.push(each), resolve);
    });
    const path = `${busPath(log)}/log/${sequenceKey(2)}`;
    await (await realtimeDatabase()).ref(path).set({ writer: 'two', transitions: 'none' });
    await assert.rejects(async () => {
      throw await failed;
    }, names(path));
    assert.deepEqual(reported, [entry]);
    await assert.rejects(events.read(log, 1, 5), names(path));
  });

  it('that contain the metrics of one minute do not affect the metrics of other minutes', async () => {
    const minutes = (await realtimeDatabase()).ref(METRICS_MINUTES);
    const [good, bad] = [new Date(Date.UTC(2041, 0, 1)), new Date(Date.UTC(2041, 0, 1, 0, 1))];
    const counts = { calls: 2, failures: 0, milliseconds: 10 };
    await minutes.child(minuteKey(good)).set({ all: counts, tools: { one: counts } });
    await minutes.child(minuteKey(bad)).set({ all: 'none', tools: { one: counts, two: { calls: 'none' } } });
    const history = await team.app.system.ports.metricsReader.between(good, bad);
    assert.deepEqual([history.all.calls, [...history.tools.keys()]], [2, ['one']]);
    assert.equal(history.tools.get('one')?.calls, 4);
    await minutes.update({ [minuteKey(good)]: null, [minuteKey(bad)]: null });
  });

  it('are removed from the queue mirror, and cause no errors of triggers', async () => {
    const { id } = await team.createOne();
    const mirror = (await realtimeDatabase()).ref(queuedTaskPath(team.workspace, id));
    await team.app.services.mirrorQueuedTask(id);
    assert.equal((await mirror.get()).exists(), true);
    await breakTask(id);
    await team.app.services.mirrorQueuedTask(id, { workspace: team.workspace });
    assert.equal((await mirror.get()).exists(), false);
    const { id: todo } = await team.app.services.todos.add(team.leader.owner_uid, { title: 'Mine' }, unkeyed);
    await firestore().doc(todoPath(todo)).update({ tags: 'none' });
    await team.app.services.repairTodo(todo, undefined);
  });

  it('are counted across all instances in the system status', async () => {
    const { id } = await team.createOne();
    await breakTask(id);
    await assert.rejects(team.task(id));
    const discovery = await team.app.services.coordination.addDiscovery(
      { workspace: team.workspace, agent_id: 'lead', content: 'It is there', tags: [] },
      unkeyed,
    );
    await firestore().doc(discoveryPath(discovery.id)).update({ tags: 'none' });
    await team.app.services.coordination.listDiscoveries(team.workspace, undefined, { limit: 5 });
    const other = team.anotherInstance().services.system.status;
    const seen = await until(
      () => other.unreadable(),
      (paths) => [taskPath(id), discoveryPath(discovery.id)].every((path) => paths?.includes(path)),
    );
    assert.equal(new Set(seen).size, seen?.length);
    team.pass(3601);
    assert.equal((await other.unreadable())?.includes(taskPath(id)), false);
  });
});

describe('a version that runs alongside a newer version', () => {
  it('skips documents with unknown values, and serves all other documents', async () => {
    const team = new Team();
    const agent = await team.join('worker');
    const [newer, older] = await team.create({}, {});
    await firestore()
      .doc(taskPath(String(newer?.id)))
      .update({ status: 'of_tomorrow' });
    const ids = (await team.tasks()).map(({ id }) => id);
    assert.deepEqual(ids, [older?.id]);
    assert.equal(await team.claim(agent), older?.id);
  });

  it('preserves unknown fields when it changes a document', async () => {
    const team = new Team();
    const agent = await team.join('worker');
    const { id } = await team.createOne();
    const later = { of_tomorrow: { kept: ['as', 'it', 'was'] } };
    await firestore().doc(taskPath(id)).update(later);
    await firestore().doc(`agents/${agent}`).update(later);
    await team.claim(agent);
    await team.start(agent, id);
    await team.complete(agent, id);
    for (const path of [taskPath(id), `agents/${agent}`])
      assert.deepEqual((await firestore().doc(path).get()).get('of_tomorrow'), later.of_tomorrow, path);
  });
});
