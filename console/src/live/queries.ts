/**
 * Every query that the page makes of the two databases. Security rules are no filters: each names the workspace, or the
 * person, that it is about. Each has an index (test/integration/indexes), and each is tried against the rules.
 */
import type { DocumentQuery, DocumentsQuery, NodeQuery } from './query.ts';

/** As many as a person looks through; what is more is said by the counters. */
const MOST_OPEN = 500;
const MOST_CLOSED = 50;
const MOST_AGENTS = 100;
const MOST_REQUESTS = 50;
const MOST_RUNS = 50;
const MOST_TODOS = 500;
const MOST_DISCOVERIES = 20;

export const OPEN_STATUSES = ['available', 'claimed', 'in_progress', 'waiting'];

export function workspaceOf(workspace: string): DocumentQuery {
  return { document: `workspaces/${workspace}` };
}

export function sessionOf(workspace: string, session: string): DocumentQuery {
  return { document: `workspaces/${workspace}/sessions/${session}` };
}

/** Shards, whose sum counts. */
export function countersOf(workspace: string, session: string): DocumentsQuery {
  return listed(`workspaces/${workspace}/sessions/${session}/counters`, 64);
}

export function agentCountsOf(workspace: string): DocumentsQuery {
  return listed(`workspaces/${workspace}/agentCounts`, 64);
}

/** Oldest first. */
export function openTasks(workspace: string, session: string): DocumentsQuery {
  return tasksOf(workspace, session, [['status', 'in', OPEN_STATUSES]], ['created_at', 'asc'], MOST_OPEN);
}

/** Latest first. */
export function closedTasks(workspace: string, session: string, status: string): DocumentsQuery {
  return tasksOf(workspace, session, [['status', '==', status]], ['completed_at', 'desc'], MOST_CLOSED);
}

/** What can never start. */
export function stuckTasks(workspace: string, session: string): DocumentsQuery {
  return tasksOf(
    workspace,
    session,
    [
      ['status', '==', 'available'],
      ['stuck', '==', true],
    ],
    ['created_at', 'asc'],
    MOST_CLOSED,
  );
}

export function task(id: string): DocumentQuery {
  return { document: `tasks/${id}` };
}

/** The last chunks of a task's log, latest first. */
export function latestLog(task: { readonly id: string; readonly workspace: string }): DocumentsQuery {
  return {
    collection: `tasks/${task.id}/logs`,
    where: [['workspace', '==', task.workspace]],
    orderBy: [['first_line', 'desc']],
    limit: 2,
  };
}

/** Chunks of it before a line, latest first: read once, since nothing is added to them. */
export function olderLog(
  task: { readonly id: string; readonly workspace: string },
  before: number,
): DocumentsQuery {
  return {
    collection: `tasks/${task.id}/logs`,
    where: [
      ['workspace', '==', task.workspace],
      ['first_line', '<', before],
    ],
    orderBy: [['first_line', 'desc']],
    limit: 10,
  };
}

/** What an agent has as its home where it named none is stored as null. */
export function agentsOf(workspace: string): DocumentsQuery {
  return {
    collection: 'agents',
    where: [['workspace', '==', workspace === 'default' ? null : workspace]],
    orderBy: [['last_seen', 'desc']],
    limit: MOST_AGENTS,
  };
}

/** What waits for the person's answer, newest first. */
export function requestsTo(uid: string): DocumentsQuery {
  return {
    collection: 'requests',
    where: [
      ['asked_of', '==', uid],
      ['state', '==', 'open'],
    ],
    orderBy: [['created_at', 'desc']],
    limit: MOST_REQUESTS,
  };
}

export function runsOf(uid: string, workspace: string): DocumentsQuery {
  return {
    collection: 'runs',
    where: [
      ['owner_uid', '==', uid],
      ['workspace', '==', workspace],
    ],
    orderBy: [['created_at', 'desc']],
    limit: MOST_RUNS,
  };
}

export function run(id: string): DocumentQuery {
  return { document: `runs/${id}` };
}

/** Newest first; the page orders them by their dates. */
export function openTodos(uid: string): DocumentsQuery {
  return {
    collection: 'todos',
    where: [
      ['owner_uid', '==', uid],
      ['completed', '==', false],
    ],
    orderBy: [['created_at', 'desc']],
    limit: MOST_TODOS,
  };
}

export function todo(id: string): DocumentQuery {
  return { document: `todos/${id}` };
}

/** Latest first. */
export function doneTodos(uid: string): DocumentsQuery {
  return {
    collection: 'todos',
    where: [
      ['owner_uid', '==', uid],
      ['completed', '==', true],
    ],
    orderBy: [['completed_at', 'desc']],
    limit: MOST_CLOSED,
  };
}

/** What still comes again, newest first. */
export function recurringOf(uid: string): DocumentsQuery {
  return {
    collection: 'recurringTasks',
    where: [
      ['owner_uid', '==', uid],
      ['ended', '==', false],
    ],
    orderBy: [['created_at', 'desc']],
    limit: MOST_CLOSED,
  };
}

/** What agents have found out in a session, latest first. */
export function discoveriesOf(workspace: string, session: string): DocumentsQuery {
  return {
    collection: 'discoveries',
    where: [
      ['workspace', '==', workspace],
      ['session', '==', session],
    ],
    orderBy: [['created_at', 'desc']],
    limit: MOST_DISCOVERIES,
  };
}

export function agent(id: string): DocumentQuery {
  return { document: `agents/${id}` };
}

export function person(uid: string): DocumentQuery {
  return { document: `people/${uid}` };
}

export function preferences(uid: string): DocumentQuery {
  return { document: `preferences/${uid}` };
}

export function presenceOf(agentId: string): NodeQuery {
  return { node: `presence/${agentId}` };
}

function tasksOf(
  workspace: string,
  session: string,
  more: DocumentsQuery['where'],
  order: DocumentsQuery['orderBy'][number],
  limit: number,
): DocumentsQuery {
  return {
    collection: 'tasks',
    where: [['workspace', '==', workspace], ['session', '==', session], ...more],
    orderBy: [order],
    limit,
  };
}

function listed(collection: string, limit: number): DocumentsQuery {
  return { collection, where: [], orderBy: [], limit };
}

/** The calls of the last hour in which there were any, by the minute. */
export function latestMinutes(): NodeQuery {
  return { node: 'metrics/minutes', last: 60 };
}
