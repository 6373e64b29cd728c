/** A large workspace, written directly to the emulators in the stored form, because tool calls would take minutes. */
import type { DocumentData } from '@google-cloud/firestore';
import { getAuth } from 'firebase-admin/auth';
import { getDatabase } from 'firebase-admin/database';
import { writeAll } from '../../../../bench/seed.ts';
import type { Agent } from '../../../../functions/src/agents/rules/agent.ts';
import { agentToDocument } from '../../../../functions/src/agents/store/agents.ts';
import { grantToDocument } from '../../../../functions/src/identity/rules/grant.ts';
import { memberToDocument } from '../../../../functions/src/identity/rules/people.ts';
import { firestore } from '../../../../functions/src/kernel/firestore/client.ts';
import * as paths from '../../../../functions/src/kernel/firestore/paths.ts';
import { entryToDocument } from '../../../../functions/src/kernel/firestore/store.ts';
import { firebaseApp, presencePath } from '../../../../functions/src/kernel/realtime/database.ts';
import {
  discoveryToDocument,
  sessionToDocument,
} from '../../../../functions/src/toolsets/coordination/rules/session.ts';
import { type Task, taskToDocument, taskWords } from '../../../../functions/src/toolsets/coordination/rules/task.ts';
import { FIRST_COUNTER } from '../../../../functions/src/toolsets/coordination/store/writers.ts';
import { type Request, requestToDocument } from '../../../../functions/src/toolsets/inbox/rules/request.ts';
import { runToDocument } from '../../../../functions/src/toolsets/orchestration/rules/runs/run.ts';
import { PRIORITIES } from '../../../../functions/src/toolsets/todo/rules/todo.ts';
import { todoToDocument } from '../../../../functions/src/toolsets/todo/store/todoDocument.ts';
import * as builders from '../../../support/builders.ts';

/** Numbers of items. Closed tasks are done, except the failed ones. */
export interface Sizes {
  readonly available: number;
  readonly blocked: number;
  readonly held: number;
  readonly done: number;
  readonly failed: number;
  /** Agents of the workspace. They belong to the person. */
  readonly agents: number;
  readonly online: number;
  /** To-dos of the person: with a date, without a date, and completed today. */
  readonly due: number;
  readonly undated: number;
  readonly completed: number;
  readonly members: number;
  /** Apps of the person. The first ones act as the agents of the workspace, the others as agents elsewhere. */
  readonly connections: number;
  readonly runs: number;
  readonly questions: number;
  readonly discoveries: number;
  /** Tasks that agents claimed and completed today, as the audit log shows. */
  readonly worked: number;
}

interface Scene {
  readonly workspace: string;
  /** Person who sees the workspace and owns its agents. */
  readonly uid: string;
  readonly sizes: Sizes;
  readonly now: number;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const SESSION = 'large';
/** Every tenth held task waits for an answer. */
const WAITING_SHARE = 10;

/** Creates the workspace. Returns when all is written. */
export async function seedLarge(workspace: string, uid: string, sizes: Sizes): Promise<void> {
  const scene: Scene = { workspace, uid, sizes, now: Date.now() };
  await openSession(scene);
  await Promise.all([addTasks(scene), addAgents(scene), addTodos(scene), addMembers(scene), addOthers(scene)]);
}

/** Writes a number of documents, each with the path that `documentOf` returns. */
function write(count: number, documentOf: (number: number) => readonly [path: string, data: DocumentData]) {
  return writeAll(firestore(), count, documentOf);
}

const agentId = ({ workspace }: Scene, number: number) => `${workspace}-agent-${number}`;
const taskId = ({ workspace }: Scene, kind: string, number: number) => `task-${workspace}-${kind}-${number}`;

async function openSession({ workspace, uid, sizes, now }: Scene): Promise<void> {
  const session = builders.sampleSession({
    id: SESSION,
    workspace,
    goal: 'Move every customer to the new system',
    created_at: new Date(now - DAY),
    capability_keys: [''],
  });
  const batch = firestore().batch();
  batch.set(firestore().doc(paths.workspacePath(workspace)), { session: SESSION });
  batch.set(firestore().doc(paths.sessionPath(workspace, SESSION)), sessionToDocument(session));
  batch.set(firestore().doc(`${paths.queueShardsPath(workspace, SESSION)}/0`), { grown_at: new Date(now) });
  batch.set(firestore().doc(paths.WORKSPACE_ACCESS_PATH), { access: { [workspace]: 'private' } }, { merge: true });
  batch.set(firestore().doc(paths.personPath(uid)), { workspaces: { [workspace]: 'leader' } }, { merge: true });
  const { available, blocked, held, done, failed, discoveries } = sizes;
  const inProgress = held - Math.floor(held / 2);
  batch.set(firestore().doc(`${paths.countersPath(workspace, SESSION)}/${FIRST_COUNTER}`), {
    counts: {
      available: available + blocked,
      claimed: held - inProgress,
      in_progress: inProgress,
      done,
      failed,
      discoveries,
    },
    may_be_late: held,
    may_be_blocked: blocked,
    last_activity: new Date(now),
  });
  await batch.commit();
}

function addTasks(scene: Scene): Promise<unknown> {
  const { available, blocked, held, done, failed } = scene.sizes;
  const of = (kind: string, count: number, changesOf: (number: number) => Partial<Task>) =>
    write(count, (number) => {
      const task = builders.sampleTask({
        id: taskId(scene, kind, number),
        workspace: scene.workspace,
        session: SESSION,
        description: `Move the ${kind} customer ${number + 1}`,
        priority: 1 + (number % 10),
        created_at: new Date(scene.now - DAY + number * 100),
        created_by: agentId(scene, 0),
        owner_uid: scene.uid,
        ...changesOf(number),
      });
      return [paths.taskPath(task.id), { ...taskToDocument(task), words: taskWords(task) }];
    });
  return Promise.all([
    of('available', available, (number) => ({
      // The first available tasks each hold up one blocked task.
      dependents: number < blocked ? [taskId(scene, 'blocked', number)] : [],
    })),
    of('blocked', blocked, (number) => ({ blockers: 1, dependencies: [taskId(scene, 'available', number)] })),
    of('held', held, (number) => heldFields(scene, number)),
    of('done', done, (number) => closedFields(scene, 'done', number)),
    of('failed', failed, (number) => closedFields(scene, 'failed', number)),
  ]);
}

function heldFields(scene: Scene, number: number): Partial<Task> {
  const claimedAt = new Date(scene.now - (number % 50) * MINUTE);
  const isWaiting = number % WAITING_SHARE === 0;
  const until = new Date(scene.now + DAY);
  return {
    status: number % 2 === 0 ? 'in_progress' : 'claimed',
    claim_epoch: 1,
    claim: {
      claimed_by: agentId(scene, number % scene.sizes.agents),
      claim_epoch: 1,
      claimed_at: claimedAt,
      lease_seconds: 86_400,
      lease_expires_at: until,
      started_at: claimedAt,
    },
    ...(isWaiting && { waiting_for: { request_id: requestId(scene, number), who: 'Ada Person', until } }),
  };
}

function closedFields(scene: Scene, status: 'done' | 'failed', number: number): Partial<Task> {
  return {
    status,
    completed_at: new Date(scene.now - (number + 1) * MINUTE),
    ...(status === 'done' ? { result: { output: 'Moved.' } } : { error: 'The new system refused the customer.' }),
  };
}

async function addAgents(scene: Scene): Promise<void> {
  const { workspace, uid, sizes, now } = scene;
  const isOnline = (number: number) => number < sizes.online;
  const agentOf = (number: number, changes: Partial<Agent>) =>
    builders.sampleAgent({
      id: agentId(scene, number),
      name: `Mover ${number + 1} of ${workspace}`,
      owner_uid: uid,
      workspace,
      configuration: { ...builders.sampleAgent().configuration, max_concurrent_tasks: 5 },
      registered_at: new Date(now - DAY),
      last_seen: new Date(isOnline(number) ? now : now - HOUR - number * MINUTE),
      tasks_completed: number,
      ...changes,
    });
  await write(sizes.agents, (number) => {
    const held: string[] = [];
    for (let one = number; one < sizes.held; one += sizes.agents) held.push(taskId(scene, 'held', one));
    const agent = agentOf(number, {
      status: isOnline(number) ? 'active' : 'offline',
      held: Object.fromEntries(held.map((id) => [id, { session: SESSION, claim_epoch: 1 }])),
    });
    return [paths.agentPath(agent.id), agentToDocument(agent)];
  });
  const counts = {
    total: sizes.agents,
    leaders: 0,
    active: sizes.online,
    registered: sizes.agents,
    online: sizes.online,
  };
  await firestore()
    .doc(`${paths.agentCountsPath(workspace)}/0`)
    .set(counts);
  const elsewhere = Math.max(0, sizes.connections - sizes.agents);
  await write(elsewhere, (number) => {
    const agent = agentOf(sizes.agents + number, { workspace: `${workspace}-2`, status: 'offline' });
    return [paths.agentPath(agent.id), agentToDocument(agent)];
  });
  await write(sizes.connections, (number) => {
    const id = `grant-${workspace}-${number}`;
    const grant = builders.sampleGrant({
      id,
      owner_uid: uid,
      agent_id: agentId(scene, number),
      client_name: `App ${number + 1}`,
      created_at: new Date(now - DAY),
      used_at: new Date(now - HOUR),
      expires_at: new Date(now + 30 * DAY),
      ends_at: new Date(now + 300 * DAY),
      code: { ...builders.sampleGrant().code, is_redeemed: true },
      refresh_hash: id,
    });
    return [paths.grantPath(grant.id), grantToDocument(grant)];
  });
  const presence = Array.from({ length: sizes.online }, (_, number) => [
    presencePath(agentId(scene, number)),
    { last_seen: now - number * 100, workspace },
  ]);
  await getDatabase(firebaseApp()).ref().update(Object.fromEntries(presence));
}

function addTodos({ workspace, uid, sizes, now }: Scene): Promise<unknown> {
  const of = (kind: string, count: number, changesOf: (number: number) => Parameters<typeof builders.sampleTodo>[0]) =>
    write(count, (number) => {
      const todo = builders.sampleTodo({
        id: `todo-${workspace}-${kind}-${number}`,
        owner_uid: uid,
        title: `Call the ${kind} customer ${number + 1}`,
        priority: PRIORITIES[number % PRIORITIES.length] ?? 'LOW',
        tags: number % 4 === 0 ? ['phone'] : [],
        created_at: new Date(now - DAY - number * 1000),
        ...changesOf(number),
      });
      return [paths.todoPath(todo.id), todoToDocument(todo)];
    });
  return Promise.all([
    // 20 to-dos a day at noon, so that the days do not depend on the time of the test.
    of('due', sizes.due, (number) => ({
      due_date: new Date(noon(now) + Math.floor(number / 20) * DAY + number * 1000),
    })),
    of('undated', sizes.undated, () => ({})),
    of('completed', sizes.completed, (number) => ({ completed: true, completed_at: new Date(now - number * 1000) })),
  ]);
}

const noon = (now: number) => new Date(now).setHours(36, 0, 0, 0);

async function addMembers({ workspace, uid, sizes, now }: Scene): Promise<void> {
  const uids = [uid, ...Array.from({ length: sizes.members - 1 }, (_, number) => `${workspace}-member-${number}`)];
  const users = uids
    .slice(1)
    .map((one, number) => ({
      uid: one,
      displayName: `Member ${number + 2} of ${workspace}`,
      email: `${one}@example.com`,
    }));
  if (users.length > 0) await getAuth(firebaseApp()).importUsers(users);
  await write(uids.length, (number) => {
    const member = {
      uid: uids[number] ?? '',
      workspace,
      role: number === 0 ? ('leader' as const) : ('viewer' as const),
      added_by: uid,
      added_at: new Date(now - number * HOUR),
    };
    return [paths.memberPath(workspace, member.uid), memberToDocument(member)];
  });
}

const requestId = ({ workspace }: Scene, number: number) => `request-${workspace}-${number}`;

async function addOthers(scene: Scene): Promise<void> {
  const { workspace, uid, sizes, now } = scene;
  await write(sizes.runs, (number) => {
    const run = builders.sampleRun({
      id: `run-${workspace}-${number}`,
      owner_uid: uid,
      started_by: uid,
      workspace,
      title: `Compare the offers of group ${number + 1}`,
      status: 'succeeded',
      created_at: new Date(now - number * MINUTE),
      ended_at: new Date(now - number * MINUTE + 30_000),
      deadline: new Date(now + HOUR),
      steps_settled: 1,
    });
    return [paths.runPath(run.id), runToDocument(run)];
  });
  await write(sizes.questions, (number) => {
    const request = builders.sampleRequest({ ...requestFields(scene, number), id: requestId(scene, number) });
    return [paths.requestPath(request.id), requestToDocument(request)];
  });
  await write(sizes.discoveries, (number) => {
    const discovery = {
      id: `discovery-${workspace}-${number}`,
      workspace,
      session: SESSION,
      agent_id: agentId(scene, number % sizes.agents),
      content: `Customer ${number + 1} has two addresses.`,
      tags: ['customers'],
      created_at: new Date(now - number * MINUTE),
    };
    return [paths.discoveryPath(discovery.id), discoveryToDocument(discovery)];
  });
  await write(sizes.worked * 2, (number) => {
    const entry = workEntry(scene, number);
    return [paths.auditPath(entry.id), entryToDocument(entry)];
  });
}

function requestFields(scene: Scene, number: number): Partial<Request> {
  const asker = agentId(scene, number % scene.sizes.agents);
  return {
    workspace: scene.workspace,
    question: `Which address is right for customer ${number + 1}?`,
    asked_by: `agent:${asker}`,
    asked_by_agent: asker,
    owner_uid: scene.uid,
    asked_of: scene.uid,
    asked_of_name: 'Ada',
    created_at: new Date(scene.now - number * MINUTE),
    expires_at: new Date(scene.now + DAY),
    ...(number % WAITING_SHARE === 0 && number < scene.sizes.held && { task_id: taskId(scene, 'held', number) }),
    ...(number % 3 === 1 && { kind: 'choice', options: ['The first', 'The second'] }),
  };
}

/** Returns the audit entry of a claim (even numbers) or of the completion of the claimed task (odd numbers). */
function workEntry(scene: Scene, number: number): Parameters<typeof entryToDocument>[0] {
  const { workspace, uid, sizes, now } = scene;
  const [work, isEnd] = [Math.floor(number / 2), number % 2 === 1];
  const agent = agentId(scene, work % sizes.agents);
  const end = now - (work % 10) * MINUTE;
  const holder = isEnd ? { status: 'claimed', claimed_by: agent } : { status: 'available', claimed_by: null };
  return {
    id: `entry-${workspace}-${number}`,
    at: new Date(isEnd ? end : end - 10 * MINUTE),
    by: {
      uid: `agent:${agent}`,
      agent_id: agent,
      owner_uid: uid,
      tool: isEnd ? 'coordination.complete_task' : 'coordination.claim_task',
      workspace,
      request_id: `request-${number}`,
    },
    effects: [
      {
        kind: 'task',
        id: taskId(scene, 'done', work % sizes.done),
        workspace,
        owner_uid: uid,
        before: holder,
        after: isEnd ? { status: 'done' } : { status: 'claimed', claimed_by: agent },
      },
    ],
  };
}
