/** Occasions for each function that Firebase calls: prepared data, and the function's work on it. */
import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { getAuth } from 'firebase-admin/auth';
import type { Composition } from '../../../functions/src/composition/compose.ts';
import { type NodeRef, nodeKey } from '../../../functions/src/graph/rules/graphNode.ts';
import {
  budgetPath,
  graphPath,
  preferencesPath,
  todoPath,
} from '../../../functions/src/kernel/firestore/paths.ts';
import { firebaseApp } from '../../../functions/src/kernel/platform.ts';
import type { SweepPart } from '../../../functions/src/kernel/sweep.ts';
import { Deliveries } from '../../../functions/src/toolsets/github/rules/deliveries.ts';
import { sweep } from '../../../functions/src/toolsets/system/rules/sweeper.ts';
import { messageOf, type Topic } from '../../../functions/src/toolsets/todo/rules/taskEvent.ts';
import { GitHubWebhook } from '../../../functions/src/vendors/octokit/webhook.ts';
import { sampleAgent, sampleCodingWork, sampleRequest } from '../../support/builders.ts';
import { answer } from '../coordination/calls.ts';
import { silent, unkeyed } from '../coordination/team.ts';
import type { Scene } from './scene.ts';

type Deed = (app: Composition) => Promise<unknown>;

/** Prepares data. Returns an instance's work on it, and `about`: text in its commits, by default the workspace. */
export type Occasion = (scene: Scene) => Promise<Deed | { readonly deed: Deed; readonly about: string }>;

const DAY = 86_400_000;

const SECRET = 'a secret';

/** Before anything that other tests leave due. */
const LONG_AGO = new Date('1980-01-01T00:00:00.000Z');

/** Occasions by function and case. `tools.test.ts` and `runs.test.ts` test the other functions. */
export const occasions: Readonly<Record<string, Readonly<Record<string, Occasion>>>> = {
  repairTodo: {
    'an edited to-do': async (scene) => {
      const id = await todo(scene);
      await edit(scene, id, { title: 'Water the roses', due_date: inDays(scene, 3) });
      return (app) => app.services.repairTodo(id, undefined);
    },
    'a completed occurrence': async (scene) => {
      const draft = { title: 'Standup', frequency: 'DAILY', start_date: inDays(scene, 1) } as const;
      const begun = await scene.app.services.recurringTasks.create(scene.leader.owner_uid, draft, unkeyed);
      await edit(scene, begun.first.id, { completed: true });
      return (app) => app.services.repairTodo(begun.first.id, undefined);
    },
  },
  mirrorTaskQueue: {
    'a closed task of a run': async (scene) => {
      const { id, agent } = await taskOfRun(scene);
      await scene.claim(agent);
      await scene.complete(agent, id);
      return (app) => app.services.orchestration.runs.taskChanged(id);
    },
    'an open task of a run that has ended': async (scene) => {
      const { id } = await taskOfRun(scene);
      return (app) => app.services.orchestration.runs.taskChanged(id);
    },
    'a new task': async (scene) => {
      const { id } = await scene.createOne();
      return (app) => app.services.mirrorQueuedTask(id);
    },
  },
  mirrorPerson: {
    'a new member': async (scene) => {
      const uid = `member-${randomUUID()}`;
      const { workspace, now: addedAt } = scene;
      const member = { uid, workspace, role: 'worker', added_by: 'ada', added_at: addedAt } as const;
      await scene.app.kernel.store.commit([{ kind: 'setMember', member }]);
      return (app) => app.services.mirrorPerson(uid);
    },
    'a former member with an open coding task': async (scene) => {
      const uid = `leaver-${randomUUID()}`;
      await scene.create({
        required_capabilities: ['claude'],
        coding: () => sampleCodingWork({ owner_uid: uid, queue_ends_at: inDays(scene, 1) }),
      });
      const before = { workspaces: { [scene.workspace]: 'worker' } };
      return (app) => app.services.leaving.personWritten(uid, before, undefined);
    },
  },
  mirrorWorkspaces: {
    'a new workspace': async (scene) => {
      await scene.app.kernel.store.commit([
        { kind: 'nameWorkspace', workspace: scene.workspace, access: 'private' },
      ]);
      return (app) => app.services.mirrorWorkspaces();
    },
  },
  makeApprovedCall: {
    'an approved call': async (scene) => {
      const id = await approvedCall(scene);
      return (app) => app.services.approvedCalls.execute(id);
    },
  },
  followGraph: {
    'a task with completed parts': async (scene) => {
      const { principal, agent_id, task_id: whole } = await scene.holder();
      await scene.allow(agent_id, 2);
      const { id: part } = await scene.createOne({ part_of: { kind: 'task', id: whole } });
      const report = { agent_id, task_id: whole, output: 'Mine is done', when_parts_done: true };
      await answer(scene, 'coordination_complete_task', report, principal);
      assert.equal(await scene.claim(agent_id), part);
      await scene.complete(agent_id, part);
      return following(scene, { kind: 'task', id: whole });
    },
    'a cancelled task with a run': async (scene) => {
      const { id } = await scene.createOne();
      await scene.pendingRun({ kind: 'task', id });
      await answer(scene, 'coordination_cancel_task', { task_id: id });
      return following(scene, { kind: 'task', id });
    },
    'a to-do with a completed task': async (scene) => {
      const task_id = await todo(scene, 'Water the plants');
      const { delegated } = await answer(scene, 'todo_delegate', { task_id });
      const id = String(Object(delegated).task_id);
      const agent = await scene.join('ann');
      assert.equal(await scene.claim(agent), id);
      await scene.complete(agent, id);
      return following(scene, { kind: 'task', id });
    },
  },
  followBudget: {
    'a budget that a task waits for': async (scene) => {
      const of = { kind: 'workspace', id: scene.workspace };
      await answer(scene, 'system_setBudget', { ...of, tokens: 0 });
      await scene.begin();
      await scene.order();
      await scene.ask('claim_task', {});
      await answer(scene, 'system_setBudget', { ...of, tokens: 10 });
      const path = budgetPath(`workspace-${scene.workspace}`);
      const written = (await scene.database.doc(path).get()).data();
      return (app) => app.services.followBudget(written);
    },
  },
  relayEvent: {
    'an event': async (scene) => {
      const { id } = await event(scene, 'updated');
      return (app) => app.services.relayEvent(id);
    },
  },
  auditEvents: { 'an event': (scene) => consumed(scene, 'task-events', 'updated') },
  mirrorTaskUpdates: { 'an event': (scene) => consumed(scene, 'task-updates', 'updated') },
  notifyOfReminders: {
    'a reminder': async (scene) => {
      const uid = scene.leader.owner_uid;
      await getAuth(firebaseApp()).createUser({ uid, email: `${uid}@muster.example`, emailVerified: true });
      await scene.database.doc(preferencesPath(uid)).set({ email: true });
      return consumed(scene, 'reminders', 'reminder');
    },
  },
  githubWebhook: {
    'a merged pull request': async (scene) => {
      const { number, id } = await pullRequest(scene);
      const pull_request = { number, merged: true, merge_commit_sha: 'c'.repeat(40) };
      return deliver('pull_request', { action: 'closed', repository: { id }, pull_request });
    },
    'a failed check': async (scene) => {
      const { number, id } = await pullRequest(scene);
      const workflow_run = {
        id: 4000000001,
        name: 'ci',
        run_attempt: 1,
        conclusion: 'failure',
        head_sha: 'c'.repeat(40),
        html_url: 'https://github.com/sartor-ai/claude-network/actions/runs/4000000001',
        pull_requests: [{ number }],
      };
      return deliver('workflow_run', { action: 'completed', repository: { id }, workflow_run });
    },
  },
  sweep: {
    'an expired lease': async (scene) => {
      const { agent_id } = await scene.holder();
      scene.pass(7200);
      await scene.neverSeen(agent_id);
      return (app) => scene.sweep(app);
    },
    'an offline runner': async (scene) => {
      await scene.begin();
      await scene.order();
      await scene.take({ leaseSeconds: 60 });
      scene.pass(7200);
      await scene.neverSeen(scene.runner.agent_id ?? '');
      return (app) => scene.sweep(app);
    },
    'the end of a backoff': async (scene) => {
      const { agent_id, task_id } = await scene.holder();
      await scene.fail(agent_id, task_id, true);
      scene.pass(7200);
      return (app) => scene.sweep(app);
    },
    'a coding task without a claim': async (scene) => {
      await scene.order({ config: { queueSeconds: 60 } });
      scene.pass(7200);
      return (app) => scene.sweep(app);
    },
    'an offline agent': async (scene) => {
      const agent = await scene.join('ann');
      await scene.app.access.ports.presence.touch(agent);
      scene.pass(7200);
      return (app) => scene.sweep(app);
    },
    'an expired question': async (scene) => {
      const { principal, task_id } = await scene.holder();
      await answer(scene, 'inbox_ask', { question: 'Go on?', kind: 'approval', task_id }, principal);
      scene.pass(25 * 3600);
      return (app) => sweepPart(scene, app, app.services.inbox.answers.part);
    },
    'an approved call': async (scene) => {
      await approvedCall(scene);
      return (app) => sweepPart(scene, app, app.services.approvedCalls.part);
    },
  },
  sendReminders: {
    'a due reminder': async (scene) => {
      scene.now = LONG_AGO;
      await todo(scene);
      scene.pass(24 * 3600);
      return (app) => app.services.sendReminders();
    },
    'a reminder of a completed to-do': async (scene) => {
      scene.now = LONG_AGO;
      const about = await todo(scene);
      await edit(scene, about, { completed: true });
      scene.pass(24 * 3600);
      return { deed: (app) => app.services.sendReminders(), about };
    },
  },
};

const inDays = (scene: Scene, days: number) => new Date(scene.now.getTime() + days * DAY);

async function todo(scene: Scene, title = `Water the plants of ${scene.workspace}`): Promise<string> {
  const draft = { title, due_date: inDays(scene, 1) };
  return (await scene.app.services.todos.add(scene.leader.owner_uid, draft, unkeyed)).id;
}

/** Edits a to-do without the tools, as its owner may. */
async function edit(scene: Scene, id: string, fields: object): Promise<void> {
  await scene.database.doc(todoPath(id)).update({ ...fields });
}

/** Creates a task whose run has ended, and an agent that could work on it. */
async function taskOfRun(scene: Scene): Promise<{ readonly id: string; readonly agent: string }> {
  const runId = await scene.pendingRun();
  await answer(scene, 'orchestration_cancel_run', { runId });
  const id = `${runId}-only-1`;
  await scene.create({ id });
  return { id, agent: await scene.join('ann') };
}

async function event(scene: Scene, type: 'updated' | 'reminder') {
  const happened = {
    id: randomUUID(),
    type,
    taskId: `${scene.workspace}-task`,
    userId: scene.leader.owner_uid,
    timestamp: scene.now,
    before: { title: 'Old' },
    after: type === 'reminder' ? { task_title: 'Water the plants' } : { title: 'New' },
    changes: ['title'],
  };
  await scene.app.kernel.store.commit([{ kind: 'recordEvent', event: happened }]);
  return happened;
}

async function consumed(scene: Scene, topic: Topic, type: 'updated' | 'reminder') {
  const text = JSON.stringify(messageOf(await event(scene, type)));
  return (app: Composition) => app.services.consumers[topic].receive({ id: randomUUID(), text });
}

/** Returns the work of the graph's trigger on an item's stored node. */
async function following(scene: Scene, ref: NodeRef): Promise<Deed> {
  const written = (await scene.database.doc(graphPath(nodeKey(ref))).get()).data();
  assert.ok(written, `${ref.id} has no node`);
  return (app) => app.services.followGraph(written);
}

/** Creates a coding task's request by an agent, approved by its owner, and returns the request's id. */
async function approvedCall(scene: Scene): Promise<string> {
  const { workspace, leader, now: createdAt } = scene;
  const { agent_id: agentId = '', owner_uid: ownerUid, uid } = leader;
  const expiresAt = new Date(createdAt.getTime() + DAY);
  const call = {
    tool: 'coding.create_task',
    arguments: { tool: 'CLAUDECODE', description: 'Add a login', instructions: 'Use JWT' },
    readonly: false,
    lineage: [{ subject: `key:mk_${agentId}`, agent_id: agentId } as const],
  };
  const request = sampleRequest({
    id: `request-${randomUUID()}`,
    workspace,
    kind: 'approval',
    call,
    created_at: createdAt,
    expires_at: expiresAt,
    owner_uid: ownerUid,
    asked_by: uid,
    asked_by_agent: agentId,
    asked_of: ownerUid,
    state: 'answered',
    answer: 'approve',
    answered_by: ownerUid,
    settled_at: createdAt,
    due_at: createdAt,
  });
  await scene.app.kernel.store.commit([
    { kind: 'setPerson', uid: ownerUid, role: 'leader' },
    {
      kind: 'createAgent',
      agent: sampleAgent({ id: agentId, owner_uid: ownerUid, role: 'worker', workspace }),
    },
    {
      kind: 'issueCredential',
      credential: {
        api_key: `mk_${agentId}`,
        secret_hash: 'a-digest',
        agent_id: agentId,
        created_at: createdAt,
        expires_at: expiresAt,
        ancestors: [],
      },
    },
    { kind: 'createRequest', request },
  ]);
  return request.id;
}

/** Runs one part of the sweep, with its own record. */
async function sweepPart(scene: Scene, { system }: Composition, part: SweepPart): Promise<void> {
  await sweep([part], { ...system.ports, log: silent, sweepRecord: scene.sweepRecord });
}

/** Creates the pull request of a held task. */
async function pullRequest(scene: Scene): Promise<{ readonly number: number; readonly id: number }> {
  const { principal, task_id } = await scene.holder();
  const { owner, name: repo, id } = scene.vendors.repository(`repo-${scene.workspace}`);
  const wanted = { owner, repo, title: 'End retries', head: 'fix/retries', base: 'main', task_id };
  const { number } = await answer(scene, 'github_createPR', wanted, principal);
  return { number: Number(number), id };
}

function deliver(name: string, payload: object) {
  const body = JSON.stringify(payload);
  const signature = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;
  const headers = { 'x-github-event': name, 'x-hub-signature-256': signature };
  return async (app: Composition): Promise<void> => {
    const ports = { ...app.gitHub.ports, log: silent };
    const webhook = new GitHubWebhook({ secret: () => SECRET, deliveries: new Deliveries(ports) });
    const { status } = await webhook.receive({
      method: 'POST',
      headers,
      body: async () => Buffer.from(body),
    });
    assert.equal(status, 202);
  };
}
