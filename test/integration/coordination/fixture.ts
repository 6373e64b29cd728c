/**
 * Creates the objects that the examples of the tools name: to-dos, task-xxx-001, task-xxx-002, task-xxx-004 and
 * terminal-2 in a team's workspace, agent-001, the coding task task-000abc-001, and the subscription sub-tasks-001.
 */

import type { Change } from '../../../functions/src/composition/changes.ts';

import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { agentPath, taskPath } from '../../../functions/src/kernel/firestore/paths.ts';
import type { Discovery, Session } from '../../../functions/src/toolsets/coordination/rules/session.ts';
import type { Task } from '../../../functions/src/toolsets/coordination/rules/task.ts';
import { sampleAgent, sampleCodingWork, sampleTask } from '../../support/builders.ts';
import { emptyQueueMirror } from '../../support/queueMirror.ts';
import { clearAccess, setAccess } from '../access/examples.ts';
import { clearInbox, setInbox } from '../inbox/examples.ts';
import { clearRun, setRun } from '../orchestration/examples.ts';
import { clearTodos, setTodos } from '../todo/examples.ts';
import { type Team, unkeyed } from './team.ts';

const [FIRST, SECOND, AGENT, RESEARCHER] = ['task-xxx-001', 'task-xxx-002', 'terminal-2', 'agent-001'];

const SUBSCRIPTION = {
  subscriptionId: 'sub-tasks-001',
  database: 'realtime',
  path: 'tasks/queue',
  eventType: 'child_added',
} as const;

const GOAL = 'Build a REST API for user management';
const FAILED = 'task-xxx-004';

/** Id of the coding task that terminal-2 holds. */
const CODING = 'task-000abc-001';

/**
 * Creates the fixture: terminal-2 holds task-xxx-002, and task-xxx-001 is available.
 * @returns the open session, which the examples of some tools (such as init_coordination) archive
 */
export async function setUpFixture(team: Team): Promise<Session> {
  await clearFixture();
  await Promise.all([setTodos(team), setRun(team), setAccess(team), setInbox(team)]);
  const { services, kernel } = team.app;
  const session = await openedSession(team);
  const place = { workspace: team.workspace, session: session.id, created_at: team.now };
  const claim = {
    claimed_by: AGENT,
    claim_epoch: 1,
    claimed_at: team.now,
    lease_seconds: 1800,
    lease_expires_at: new Date(team.now.getTime() + 1_800_000),
  };
  const agent = sampleAgent({
    id: AGENT,
    owner_uid: team.leader.owner_uid,
    workspace: team.workspace,
    parts: { [team.workspace]: 'worker' },
    configuration: { max_concurrent_tasks: 3, timeout: 30_000, retry_policy: { max_retries: 3, backoff_ms: 1000 } },
    held: { [SECOND]: { session: session.id, claim_epoch: 1 }, [CODING]: { session: session.id, claim_epoch: 1 } },
  });
  await kernel.store.commit([
    { kind: 'createAgent', agent },
    { kind: 'createAgent', agent: sampleAgent({ id: RESEARCHER, owner_uid: team.leader.owner_uid }) },
    { kind: 'createTask', task: sampleTask({ ...place, id: FIRST, priority: 1 }) },
    {
      kind: 'createTask',
      task: sampleTask({ ...place, id: SECOND, priority: 1, status: 'claimed', claim_epoch: 1, claim }),
    },
    {
      kind: 'createTask',
      task: sampleTask({ ...place, id: FAILED, status: 'failed', error: 'It broke', completed_at: team.now }),
    },
    {
      kind: 'createTask',
      task: sampleTask({
        ...place,
        id: CODING,
        status: 'claimed',
        claim_epoch: 1,
        claim: { ...claim, claimed_by_runner: true },
        coding: sampleCodingWork({ owner_uid: team.leader.owner_uid }),
      }),
    },
    { kind: 'queueGrew', session, capability_keys: [] },
  ]);
  await services.subscriptions.subscribe({ principal: team.leader, credential: '' }, SUBSCRIPTION, unkeyed);
  return session;
}

/** Creates and archives a session, then opens the session of the examples and returns it. */
async function openedSession({ app: { services }, workspace }: Team): Promise<Session> {
  const open = await services.coordination.session(workspace);
  if (open?.goal === GOAL) return open;
  await services.coordination.initialize(workspace, { goal: 'An earlier goal' }, unkeyed);
  return (await services.coordination.initialize(workspace, { goal: GOAL, masterPlan: 'A plan' }, unkeyed)).session;
}

/** Adds `count` each of open tasks, done tasks, findings (to a session) and agents with `crowdSkill`. */
export async function crowd(team: Team, session: Session, count: number): Promise<void> {
  const { kernel } = team.app;
  const place = { workspace: team.workspace, session: session.id, created_at: team.now };
  const numbers = Array.from({ length: count }, (_, index) => index);
  await kernel.store.commit([
    ...numbers.map(
      (number): Change => ({ kind: 'createTask', task: sampleTask({ ...place, id: `${session.id}-${number}` }) }),
    ),
    ...numbers.map((number): Change => ({ kind: 'createTask', task: doneTask(`${session.id}-done-${number}`, place) })),
    ...discoveries(session, count, team.now).map((discovery): Change => ({ kind: 'createDiscovery', discovery })),
    ...numbers.map(
      (number): Change => ({
        kind: 'createAgent',
        agent: sampleAgent({
          id: `crowd-${session.id}-${number}`,
          owner_uid: team.leader.owner_uid,
          // The status is offline, so that sweeps ignore these agents.
          status: 'offline',
          workspace: team.workspace,
          capability_details: [{ name: crowdSkill(team), category: 'declared' }],
        }),
      }),
    ),
    {
      kind: 'countAgents',
      workspace: team.workspace,
      by: { total: 0, leaders: 0, active: 0, registered: count, online: 0 },
    },
    { kind: 'queueGrew', session, capability_keys: [] },
  ]);
}

/** A capability that only those agents have that `crowd` has added to the team. */
export function crowdSkill(team: Team): string {
  return `crowd-${team.workspace}`;
}

/** Deletes the fixture, because every test uses the same ids. */
export async function clearFixture(): Promise<void> {
  const batch = firestore().batch();
  const tasks = [FIRST, SECOND, FAILED, CODING].map(taskPath);
  const paths = [...tasks, agentPath(AGENT), agentPath(RESEARCHER)];
  for (const path of paths) batch.delete(firestore().doc(path));
  const clearing = [emptyQueueMirror, clearTodos, clearInbox, clearRun, clearAccess];
  await Promise.all([batch.commit(), ...clearing.map((clear) => clear())]);
}

function doneTask(id: string, place: Partial<Task> & { created_at: Date }): Task {
  return sampleTask({ ...place, id, status: 'done', result: { output: 'Made it' }, completed_at: place.created_at });
}

function discoveries({ id: session, workspace }: Session, count: number, createdAt: Date): Discovery[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `${session}-${index}`,
    workspace,
    session,
    agent_id: AGENT,
    content: 'Found existing auth middleware',
    tags: ['auth'],
    created_at: createdAt,
  }));
}
