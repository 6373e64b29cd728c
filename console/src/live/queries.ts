/**
 * Every query that the page makes of the two databases. Security rules are no filters: each names the workspace, or the
 * person, that it is about. Each has an index (test/integration/indexes), and each is tried against the rules.
 */
import type { DocumentQuery, DocumentsQuery, NodeQuery } from './query.ts';

/** First pages, in documents: live/paged.ts loads more when the person asks for more. */
const OPEN_PAGE = 200;
const PAGE = 50;
const AGENT_PAGE = 100;
const TODO_PAGE = 200;
const DISCOVERY_PAGE = 20;
/** More counter documents than a session or a workspace is spread over. */
const MOST_SHARDS = 64;

export const HELD_STATUSES = ['claimed', 'in_progress', 'waiting'];
export const OPEN_STATUSES = ['available', ...HELD_STATUSES];

/** Earlier than any stored time: a range from here leaves out documents without one. */
const BEGINNING = new Date(0);

export function workspaceOf(workspace: string): DocumentQuery {
  return { document: `workspaces/${workspace}` };
}

export function sessionOf(workspace: string, session: string): DocumentQuery {
  return { document: `workspaces/${workspace}/sessions/${session}` };
}

/** Shards, whose sum counts. */
export function countersOf(workspace: string, session: string): DocumentsQuery {
  return listed(`workspaces/${workspace}/sessions/${session}/counters`, MOST_SHARDS);
}

/** Members of a workspace, which are only counted: names come from `access.list_members`. */
export function membersOf(workspace: string): DocumentsQuery {
  return listed(`workspaces/${workspace}/members`, PAGE);
}

/** Tasks that an agent holds, oldest first. */
export function heldTasks(workspace: string, session: string): DocumentsQuery {
  return tasksOf(workspace, session, {
    where: [['status', 'in', HELD_STATUSES]],
    orderBy: [['created_at', 'asc']],
    limit: OPEN_PAGE,
  });
}

/** Tasks that can be claimed, in the order of the queue. */
export function claimableTasks(workspace: string, session: string): DocumentsQuery {
  return tasksOf(workspace, session, {
    where: [
      ['status', '==', 'available'],
      ['blockers', '==', 0],
    ],
    orderBy: [
      ['priority', 'asc'],
      ['created_at', 'asc'],
    ],
    limit: OPEN_PAGE,
  });
}

/** Tasks that wait for others or for a retry, and those that can never start. */
export function blockedTasks(workspace: string, session: string): DocumentsQuery {
  return tasksOf(workspace, session, {
    where: [
      ['status', '==', 'available'],
      ['blockers', '>', 0],
    ],
    orderBy: [
      ['blockers', 'asc'],
      ['priority', 'asc'],
      ['created_at', 'asc'],
    ],
    limit: OPEN_PAGE,
  });
}

/** Latest first. */
export function closedTasks(workspace: string, session: string, status: string): DocumentsQuery {
  return tasksOf(workspace, session, {
    where: [['status', '==', status]],
    orderBy: [['completed_at', 'desc']],
    limit: PAGE,
  });
}

/** Tasks that can never start. */
export function stuckTasks(workspace: string, session: string): DocumentsQuery {
  return tasksOf(workspace, session, {
    where: [
      ['status', '==', 'available'],
      ['stuck', '==', true],
    ],
    orderBy: [['created_at', 'asc']],
    limit: PAGE,
  });
}

/** Open tasks that wait for a budget. */
export function unfundedTasks(workspace: string, session: string): DocumentsQuery {
  return tasksOf(workspace, session, {
    where: [
      ['status', 'in', OPEN_STATUSES],
      ['budget_wait', '>', ''],
    ],
    orderBy: [['budget_wait', 'asc']],
    limit: PAGE,
  });
}

/** Open tasks with a failed check, latest first. */
export function redTasks(workspace: string, session: string): DocumentsQuery {
  return tasksOf(workspace, session, {
    where: [
      ['status', 'in', OPEN_STATUSES],
      ['failed_check.at', '>', BEGINNING],
    ],
    orderBy: [['failed_check.at', 'desc']],
    limit: PAGE,
  });
}

/** Available tasks whose last holders let their leases expire. */
export function releasedTasks(workspace: string, session: string): DocumentsQuery {
  return tasksOf(workspace, session, {
    where: [
      ['status', '==', 'available'],
      ['lapsed_claims', '>', []],
    ],
    orderBy: [['lapsed_claims', 'asc']],
    limit: PAGE,
  });
}

/** Held tasks, with the lease that expires first at the top. */
export function expiringTasks(workspace: string, session: string): DocumentsQuery {
  return tasksOf(workspace, session, {
    where: [
      ['status', 'in', ['claimed', 'in_progress']],
      ['lease_expires_at', '>', BEGINNING],
    ],
    orderBy: [['lease_expires_at', 'asc']],
    limit: PAGE,
  });
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
    limit: AGENT_PAGE,
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
    limit: PAGE,
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
    limit: PAGE,
  };
}

export function run(id: string): DocumentQuery {
  return { document: `runs/${id}` };
}

/** Open to-dos with a date, the first due at the top. */
export function dueTodos(uid: string): DocumentsQuery {
  return {
    collection: 'todos',
    where: [
      ['owner_uid', '==', uid],
      ['completed', '==', false],
      ['due_date', '>', BEGINNING],
    ],
    orderBy: [
      ['due_date', 'asc'],
      ['created_at', 'desc'],
    ],
    limit: TODO_PAGE,
  };
}

/** Open to-dos without a date, newest first. */
export function undatedTodos(uid: string): DocumentsQuery {
  return {
    collection: 'todos',
    where: [
      ['owner_uid', '==', uid],
      ['completed', '==', false],
      ['due_date', '==', null],
    ],
    orderBy: [['created_at', 'desc']],
    limit: TODO_PAGE,
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
    limit: PAGE,
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
    limit: PAGE,
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
    limit: DISCOVERY_PAGE,
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
  asked: Omit<DocumentsQuery, 'collection'>,
): DocumentsQuery {
  return {
    ...asked,
    collection: 'tasks',
    where: [['workspace', '==', workspace], ['session', '==', session], ...asked.where],
  };
}

function listed(collection: string, limit: number): DocumentsQuery {
  return { collection, where: [], orderBy: [], limit };
}

/** The calls of the last hour in which there were any, by the minute. */
export function latestMinutes(): NodeQuery {
  return { node: 'metrics/minutes', last: 60 };
}
