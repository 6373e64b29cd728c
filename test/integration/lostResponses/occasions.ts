/** Occasions for functions that Firebase calls. An occasion prepares data and returns the function's work on it. */
import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { getAuth } from 'firebase-admin/auth';
import type { Composition } from '../../../functions/src/composition/compose.ts';
import { type NodeRef, nodeKey } from '../../../functions/src/graph/rules/graphNode.ts';
import {
  budgetPath,
  graphPath,
  preferencesPath,
  taskPath,
  todoPath,
} from '../../../functions/src/kernel/firestore/paths.ts';
import { firebaseApp } from '../../../functions/src/kernel/realtime/database.ts';
import type { SweepJob } from '../../../functions/src/kernel/sweep.ts';
import { Deliveries } from '../../../functions/src/toolsets/github/rules/deliveries.ts';
import { sweep } from '../../../functions/src/toolsets/system/rules/sweeper.ts';
import { messageOf, type Topic } from '../../../functions/src/toolsets/todo/rules/taskEvent.ts';
import { GitHubWebhook } from '../../../functions/src/vendors/octokit/webhook.ts';
import { sampleAgent, sampleCodingWork, sampleRequest } from '../../support/builders.ts';
import { answer } from '../coordination/calls.ts';
import { silent, unkeyed } from '../coordination/team.ts';
import type { LostResponseFixture } from './fixture.ts';
import { verifying } from './scenarios/proving.ts';

type Deed = (app: Composition) => Promise<unknown>;

/** Prepares data. Returns the work on it, and `about`: a text in all commits of the work (default: workspace). */
export type Occasion = (
  fixture: LostResponseFixture,
) => Promise<Deed | { readonly deed: Deed; readonly about: string }>;

const DAY = 86_400_000;
const SECRET = 'a secret';

/** Earlier than the due times of all other tests, so that data with this time is handled first. */
const LONG_AGO = new Date('1980-01-01T00:00:00.000Z');

/** Occasions by function and case. `tools.test.ts` and `runs.test.ts` test the other functions. */
export const occasions: Readonly<Record<string, Readonly<Record<string, Occasion>>>> = {
  repairTodo: {
    'an edited to-do': async (fixture) => {
      const id = await todo(fixture);
      await edit(fixture, id, { title: 'Water the roses', due_date: inDays(fixture, 3) });
      return (app) => app.services.repairTodo(id, undefined);
    },
    'a completed occurrence': async (fixture) => {
      const draft = { title: 'Standup', frequency: 'DAILY', start_date: inDays(fixture, 1) } as const;
      const started = await fixture.app.services.recurringTasks.create(fixture.leader.owner_uid, draft, unkeyed);
      await edit(fixture, started.first.id, { completed: true });
      return (app) => app.services.repairTodo(started.first.id, undefined);
    },
  },
  mirrorTaskQueue: {
    'a closed task of a run': async (fixture) => {
      const { id, agent } = await taskOfRun(fixture);
      await fixture.claim(agent);
      await fixture.complete(agent, id);
      return (app) => app.services.orchestration.runs.taskChanged(id);
    },
    'an open task of a run that has ended': async (fixture) => {
      const { id } = await taskOfRun(fixture);
      return (app) => app.services.orchestration.runs.taskChanged(id);
    },
    'a task that freed the files another task waits for': async (fixture) => {
      const [task] = await fixture.create({ files: ['src/'] }, { files: ['src/a.ts'] });
      const [ann, bob] = [await fixture.join('ann'), await fixture.join('bob')];
      const id = task?.id ?? '';
      assert.deepEqual([await fixture.claim(ann), await fixture.claim(bob)], [id, undefined]);
      const document = fixture.database.doc(taskPath(id));
      const before = (await document.get()).data();
      await fixture.complete(ann, id);
      const after = (await document.get()).data();
      return (app) => app.services.fileWaits.taskWritten(id, before, after);
    },
    'a cancelled review': async (fixture) => {
      const { task_id } = await verifying(fixture, { review: 'any' });
      const { proof } = await fixture.task(task_id);
      const check = String(proof?.check);
      await answer(fixture, 'coordination_cancel_task', { task_id: check });
      return (app) => app.services.settleTask(check, { status: 'cancelled', reviews: { task_id } });
    },
    'a new task': async (fixture) => {
      const { id } = await fixture.createOne();
      return (app) => app.services.mirrorQueuedTask(id);
    },
  },
  mirrorPerson: {
    'a new member': async (fixture) => {
      const uid = `member-${randomUUID()}`;
      const { workspace, now: addedAt } = fixture;
      const member = { uid, workspace, role: 'worker', added_by: 'ada', added_at: addedAt } as const;
      await fixture.app.kernel.store.commit([{ kind: 'setMember', member }]);
      return (app) => app.services.mirrorPerson(uid);
    },
    'a former member with an open coding task': async (fixture) => {
      const uid = `leaver-${randomUUID()}`;
      await fixture.create({
        required_capabilities: ['claude'],
        coding: () => sampleCodingWork({ owner_uid: uid, queue_ends_at: inDays(fixture, 1) }),
      });
      const before = { workspaces: { [fixture.workspace]: 'worker' } };
      return (app) => app.services.leaving.personWritten(uid, before, undefined);
    },
  },
  mirrorWorkspaces: {
    'a new workspace': async (fixture) => {
      await fixture.app.kernel.store.commit([
        { kind: 'nameWorkspace', workspace: fixture.workspace, access: 'private' },
      ]);
      return (app) => app.services.mirrorWorkspaces();
    },
  },
  makeApprovedCall: {
    'an approved call': async (fixture) => {
      const id = await approvedCall(fixture);
      return (app) => app.services.approvedCalls.execute(id);
    },
  },
  followGraph: {
    'a task with completed parts': async (fixture) => {
      const { principal, agent_id, task_id: whole } = await fixture.holder();
      await fixture.allow(agent_id, 2);
      const { id: part } = await fixture.createOne({ part_of: { kind: 'task', id: whole } });
      const report = { agent_id, task_id: whole, output: 'Mine is done', when_parts_done: true };
      await answer(fixture, 'coordination_complete_task', report, principal);
      assert.equal(await fixture.claim(agent_id), part);
      await fixture.complete(agent_id, part);
      return following(fixture, { kind: 'task', id: whole });
    },
    'a cancelled task with a run': async (fixture) => {
      const { id } = await fixture.createOne();
      await fixture.pendingRun({ kind: 'task', id });
      await answer(fixture, 'coordination_cancel_task', { task_id: id });
      return following(fixture, { kind: 'task', id });
    },
    'a to-do with a completed task': async (fixture) => {
      const task_id = await todo(fixture, 'Water the plants');
      const { delegated } = await answer(fixture, 'todo_delegate', { task_id });
      const id = String(Object(delegated).task_id);
      const agent = await fixture.join('ann');
      assert.equal(await fixture.claim(agent), id);
      await fixture.complete(agent, id);
      return following(fixture, { kind: 'task', id });
    },
  },
  followBudget: {
    'a budget that a task waits for': async (fixture) => {
      const of = { kind: 'workspace', id: fixture.workspace };
      await answer(fixture, 'system_setBudget', { ...of, tokens: 0 });
      await fixture.begin();
      await fixture.order();
      await fixture.ask('claim_task', {});
      await answer(fixture, 'system_setBudget', { ...of, tokens: 10 });
      const path = budgetPath(`workspace-${fixture.workspace}`);
      const written = (await fixture.database.doc(path).get()).data();
      return (app) => app.services.followBudget(written);
    },
  },
  relayEvent: {
    'an event': async (fixture) => {
      const { id } = await event(fixture, 'updated');
      return (app) => app.services.relayEvent(id);
    },
  },
  auditEvents: { 'an event': (fixture) => consumed(fixture, 'task-events', 'updated') },
  mirrorTaskUpdates: { 'an event': (fixture) => consumed(fixture, 'task-updates', 'updated') },
  notifyOfReminders: {
    'a reminder': async (fixture) => {
      const uid = fixture.leader.owner_uid;
      await getAuth(firebaseApp()).createUser({ uid, email: `${uid}@muster.example`, emailVerified: true });
      await fixture.database.doc(preferencesPath(uid)).set({ email: true });
      return consumed(fixture, 'reminders', 'reminder');
    },
  },
  githubWebhook: {
    'a merged pull request': async (fixture) => {
      const { number, id } = await pullRequest(fixture);
      const pull_request = { number, merged: true, merge_commit_sha: 'c'.repeat(40) };
      return deliver('pull_request', { action: 'closed', repository: { id }, pull_request });
    },
    'a failed check': async (fixture) => {
      const { number, id } = await pullRequest(fixture);
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
    'an expired lease': async (fixture) => {
      const { agent_id } = await fixture.holder();
      fixture.pass(7200);
      await fixture.neverSeen(agent_id);
      return (app) => fixture.sweep(app);
    },
    'an offline runner': async (fixture) => {
      await fixture.begin();
      await fixture.order();
      await fixture.take({ leaseSeconds: 60 });
      fixture.pass(7200);
      await fixture.neverSeen(fixture.runner.agent_id ?? '');
      return (app) => fixture.sweep(app);
    },
    'a result that was not reviewed in time': async (fixture) => {
      await verifying(fixture, { review: 'any' });
      fixture.pass(25 * 3600);
      return (app) => sweepPart(fixture, app, app.services.proofs.sweepJob);
    },
    'the end of a backoff': async (fixture) => {
      // Marks the agents of earlier tests as offline, which would otherwise be part of the same commit.
      fixture.pass(7200);
      for (let sweeps = 0; sweeps < 2; sweeps++) await fixture.sweep();
      const { agent_id, task_id } = await fixture.holder();
      await fixture.fail(agent_id, task_id, true);
      fixture.pass(7200);
      return (app) => fixture.sweep(app);
    },
    'a coding task without a claim': async (fixture) => {
      await fixture.order({ config: { queueSeconds: 60 } });
      fixture.pass(7200);
      return (app) => fixture.sweep(app);
    },
    'an offline agent': async (fixture) => {
      const agent = await fixture.join('ann');
      await fixture.app.access.ports.presence.touch(agent);
      fixture.pass(7200);
      return (app) => fixture.sweep(app);
    },
    'an expired question': async (fixture) => {
      const { principal, task_id } = await fixture.holder();
      await answer(fixture, 'inbox_ask', { question: 'Go on?', kind: 'approval', task_id }, principal);
      fixture.pass(25 * 3600);
      return (app) => sweepPart(fixture, app, app.services.inbox.answers.sweepJob);
    },
    'an approved call': async (fixture) => {
      await approvedCall(fixture);
      return (app) => sweepPart(fixture, app, app.services.approvedCalls.sweepJob);
    },
  },
  sendReminders: {
    'a due reminder': async (fixture) => {
      fixture.now = LONG_AGO;
      await todo(fixture);
      fixture.pass(24 * 3600);
      return (app) => app.services.sendReminders();
    },
    'a reminder of a completed to-do': async (fixture) => {
      fixture.now = LONG_AGO;
      const about = await todo(fixture);
      await edit(fixture, about, { completed: true });
      fixture.pass(24 * 3600);
      return { deed: (app) => app.services.sendReminders(), about };
    },
  },
};

const inDays = (fixture: LostResponseFixture, days: number) => new Date(fixture.now.getTime() + days * DAY);

async function todo(fixture: LostResponseFixture, title = `Water the plants of ${fixture.workspace}`): Promise<string> {
  const draft = { title, due_date: inDays(fixture, 1) };
  return (await fixture.app.services.todos.add(fixture.leader.owner_uid, draft, unkeyed)).id;
}

/** Edits a to-do directly in the database, as its owner may. */
async function edit(fixture: LostResponseFixture, id: string, fields: object): Promise<void> {
  await fixture.database.doc(todoPath(id)).update({ ...fields });
}

/** Creates a task of a run that has ended, and an agent that could claim this task. */
async function taskOfRun(fixture: LostResponseFixture): Promise<{ readonly id: string; readonly agent: string }> {
  const runId = await fixture.pendingRun();
  await answer(fixture, 'orchestration_cancel_run', { runId });
  const id = `${runId}-only-1`;
  await fixture.create({ id });
  return { id, agent: await fixture.join('ann') };
}

async function event(fixture: LostResponseFixture, type: 'updated' | 'reminder') {
  const happened = {
    id: randomUUID(),
    type,
    taskId: `${fixture.workspace}-task`,
    userId: fixture.leader.owner_uid,
    timestamp: fixture.now,
    before: { title: 'Old' },
    after: type === 'reminder' ? { task_title: 'Water the plants' } : { title: 'New' },
    changes: ['title'],
  };
  await fixture.app.kernel.store.commit([{ kind: 'recordEvent', event: happened }]);
  return happened;
}

async function consumed(fixture: LostResponseFixture, topic: Topic, type: 'updated' | 'reminder') {
  const text = JSON.stringify(messageOf(await event(fixture, type)));
  return (app: Composition) => app.services.consumers[topic].receive({ id: randomUUID(), text });
}

/** Returns the work of the graph's trigger for the stored node of an item. */
async function following(fixture: LostResponseFixture, ref: NodeRef): Promise<Deed> {
  const written = (await fixture.database.doc(graphPath(nodeKey(ref))).get()).data();
  assert.ok(written, `${ref.id} has no node`);
  return (app) => app.services.followGraph(written);
}

/** Creates an agent's request for a coding task, which its owner has approved. Returns the id of the request. */
async function approvedCall(fixture: LostResponseFixture): Promise<string> {
  const { workspace, leader, now: createdAt } = fixture;
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
  await fixture.app.kernel.store.commit([
    { kind: 'setPerson', uid: ownerUid, role: 'leader' },
    { kind: 'createAgent', agent: sampleAgent({ id: agentId, owner_uid: ownerUid, role: 'worker', workspace }) },
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

/** Runs one part of the sweep, with a sweep record that only this test uses. */
async function sweepPart(fixture: LostResponseFixture, { system }: Composition, part: SweepJob): Promise<void> {
  await sweep([part], { ...system.ports, log: silent, sweepRecord: fixture.sweepRecord });
}

/** Creates the pull request of a held task. */
async function pullRequest(fixture: LostResponseFixture): Promise<{ readonly number: number; readonly id: number }> {
  const { principal, task_id } = await fixture.holder();
  const { owner, name: repo, id } = fixture.vendors.repository(`repo-${fixture.workspace}`);
  const wanted = { owner, repo, title: 'End retries', head: 'fix/retries', base: 'main', task_id };
  const { number } = await answer(fixture, 'github_createPR', wanted, principal);
  return { number: Number(number), id };
}

function deliver(name: string, payload: object) {
  const body = JSON.stringify(payload);
  const signature = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;
  const headers = { 'x-github-event': name, 'x-hub-signature-256': signature };
  return async (app: Composition): Promise<void> => {
    const ports = { ...app.gitHub.ports, log: silent };
    const webhook = new GitHubWebhook({ secret: () => SECRET, deliveries: new Deliveries(ports) });
    const { status } = await webhook.receive({ method: 'POST', headers, body: async () => Buffer.from(body) });
    assert.equal(status, 202);
  };
}
