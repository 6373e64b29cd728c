/** All queries of the console, by the name of their function. The tests of indexes and of rules use them. */
import type { Firestore } from '@google-cloud/firestore';
import * as queries from '../../../console/src/live/queries.ts';
import type { DocumentQuery, DocumentsQuery, NodeQuery } from '../../../console/src/live/query.ts';

export type ConsoleQuery = DocumentsQuery | DocumentQuery | NodeQuery;

/** Ids that select the queried data. */
export interface Asked {
  readonly uid: string;
  readonly workspace: string;
  readonly session: string;
  readonly task: string;
  readonly agent: string;
  readonly run: string;
}

const SOMETHING: Asked = {
  uid: 'uid-1',
  workspace: 'default',
  session: 'session-1',
  task: 'task-1',
  agent: 'agent-1',
  run: 'run-1',
};

export function consoleQueries(asked: Asked = SOMETHING): Readonly<Record<string, readonly ConsoleQuery[]>> {
  const { uid, workspace, session, task, agent, run } = asked;
  return {
    workspaceOf: [queries.workspaceOf(workspace)],
    sessionOf: [queries.sessionOf(workspace, session)],
    countersOf: [queries.countersOf(workspace, session)],
    membersOf: [queries.membersOf(workspace)],
    heldTasks: [queries.heldTasks(workspace, session)],
    claimableTasks: [queries.claimableTasks(workspace, session)],
    blockedTasks: [queries.blockedTasks(workspace, session)],
    unfundedTasks: [queries.unfundedTasks(workspace, session)],
    redTasks: [queries.redTasks(workspace, session)],
    releasedTasks: [queries.releasedTasks(workspace, session)],
    expiringTasks: [queries.expiringTasks(workspace, session)],
    verifyingTasks: [queries.verifyingTasks(workspace, session)],
    closedTasks: ['done', 'failed', 'cancelled'].map((status) => queries.closedTasks(workspace, session, status)),
    stuckTasks: [queries.stuckTasks(workspace, session)],
    task: [queries.task(task)],
    tasksWithWord: [queries.tasksWithWord(workspace, 'sign')],
    latestLog: [queries.latestLog({ id: task, workspace })],
    olderLog: [queries.olderLog({ id: task, workspace }, 1000)],
    taskMessages: [queries.taskMessages(workspace, task)],
    discoveriesOf: [queries.discoveriesOf(workspace, session)],
    agentsOf: [queries.agentsOf(workspace)],
    requestsTo: [queries.requestsTo(uid)],
    requestsAbout: [queries.requestsAbout(uid, workspace, task)],
    archivedSession: [queries.archivedSession(workspace, session)],
    archivedSessions: [queries.archivedSessions(workspace)],
    answeredRequests: [queries.answeredRequests(uid, workspace)],
    runsOf: [queries.runsOf(uid, workspace)],
    run: [queries.run(run)],
    dueTodos: [queries.dueTodos(uid)],
    undatedTodos: [queries.undatedTodos(uid)],
    todo: [queries.todo('todo-1')],
    preferences: [queries.preferences(uid)],
    doneTodos: [queries.doneTodos(uid)],
    recurringOf: [queries.recurringOf(uid)],
    agent: [queries.agent(agent)],
    person: [queries.person(uid)],
    latestMinutes: [queries.latestMinutes(60)],
    latestDays: [queries.latestDays(14)],
    request: [queries.request('request-1')],
    todosDueBy: [queries.todosDueBy(uid, new Date())],
    presenceOf: [queries.presenceOf(agent)],
  };
}

/** Sends the console's query if it reads a Firestore collection. Sent from a server, it needs the same index. */
export async function sent(database: Firestore, asked: ConsoleQuery): Promise<void> {
  if (!('collection' in asked)) return;
  let query = database.collection(asked.collection).limit(asked.limit);
  for (const [field, comparison, value] of asked.where) query = query.where(field, comparison, value);
  for (const [field, direction] of asked.orderBy) query = query.orderBy(field, direction);
  await query.get();
}
