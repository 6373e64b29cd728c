/**
 * All queries of the page to both databases. Security rules do not filter results, so each query names the workspace
 * or person. Tests check that each query has an index and complies with the rules.
 */
import type { DocumentQuery, DocumentsQuery, NodeQuery } from './query.ts';

/** Sizes of the first pages, in documents. live/paged.ts loads more documents at the person's request. */
const OPEN_PAGE = 200;
const PAGE = 50;
const AGENT_PAGE = 100;
const TODO_PAGE = 200;
const DISCOVERY_PAGE = 20;
const FOUND_PAGE = 20;
const GOAL_PAGE = 5;
/** Maximum number of counter shards in a query. No session has more, including those of earlier releases. */
const MAX_SHARDS = 128;
export const HELD_STATUSES = ['claimed', 'in_progress', 'waiting'];
export const OPEN_STATUSES = ['available', ...HELD_STATUSES];

/** States of a question that no longer waits for an answer. */
const CLOSED_STATES = ['answered', 'expired', 'withdrawn'];

/** Time before all stored times. A range from this time excludes documents that lack the field. */
const BEGINNING = new Date(0);

export function workspaceOf(workspace: string): DocumentQuery {
  return { document: `workspaces/${workspace}` };
}

export function sessionOf(workspace: string, session: string): DocumentQuery {
  return { document: `workspaces/${workspace}/sessions/${session}` };
}

/** Counters of a session, in shards whose values must be summed. */
export function countersOf(workspace: string, session: string): DocumentsQuery {
  return listed(`workspaces/${workspace}/sessions/${session}/counters`, MAX_SHARDS);
}

/** Members of a workspace. This query only counts the members; `access.list_members` returns their names. */
export function membersOf(workspace: string): DocumentsQuery {
  return listed(`workspaces/${workspace}/members`, PAGE);
}

/** Tasks that any agent holds, oldest first. */
export function heldTasks(workspace: string, session: string): DocumentsQuery {
  return tasksOf(workspace, session, {
    where: [['status', 'in', HELD_STATUSES]],
    orderBy: [['created_at', 'asc']],
    limit: OPEN_PAGE,
  });
}

/** Available tasks, in queue order. */
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

/** Tasks that wait for dependencies or for a retry, and stuck tasks. */
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

/** Closed tasks with a status, newest first. */
export function closedTasks(workspace: string, session: string, status: string): DocumentsQuery {
  return tasksOf(workspace, session, {
    where: [['status', '==', status]],
    orderBy: [['completed_at', 'desc']],
    limit: PAGE,
  });
}

/** Stuck tasks. */
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

/** Open tasks with a failed check, newest first. */
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

/** Available tasks whose previous lease has expired. */
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

/** Held tasks, in the order in which their leases end. */
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

/** Tasks in every state that a search finds, newest first. @param word the result of `taskSearchWord` */
export function tasksWithWord(workspace: string, word: string): DocumentsQuery {
  return {
    collection: 'tasks',
    where: [
      ['workspace', '==', workspace],
      ['words', 'array-contains', word],
    ],
    orderBy: [['created_at', 'desc']],
    limit: FOUND_PAGE,
  };
}

export function task(id: string): DocumentQuery {
  return { document: `tasks/${id}` };
}

/** Last chunks of a task's log, newest first. */
export function latestLog(task: { readonly id: string; readonly workspace: string }): DocumentsQuery {
  return {
    collection: `tasks/${task.id}/logs`,
    where: [['workspace', '==', task.workspace]],
    orderBy: [['first_line', 'desc']],
    limit: 2,
  };
}

/** Chunks of a log before a line, newest first. They are read only once, because they no longer change. */
export function olderLog(task: { readonly id: string; readonly workspace: string }, before: number): DocumentsQuery {
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

/** Messages about a task, newest first. */
export function taskMessages(workspace: string, taskId: string, limit = PAGE): DocumentsQuery {
  return {
    collection: `tasks/${taskId}/messages`,
    where: [['workspace', '==', workspace]],
    orderBy: [['at', 'desc']],
    limit,
  };
}

/** Agents of a workspace, last seen first. For agents of `default`, the stored workspace is null. */
export function agentsOf(workspace: string, limit = AGENT_PAGE): DocumentsQuery {
  return {
    collection: 'agents',
    where: [['workspace', '==', workspace === 'default' ? null : workspace]],
    orderBy: [['last_seen', 'desc']],
    limit,
  };
}

/** Questions for the person, newest first. */
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

/** Closed questions for the person in a workspace, with the latest end first. */
export function answeredRequests(uid: string, workspace: string): DocumentsQuery {
  return {
    collection: 'requests',
    where: [
      ['asked_of', '==', uid],
      ['workspace', '==', workspace],
      ['state', 'in', CLOSED_STATES],
    ],
    orderBy: [['settled_at', 'desc']],
    limit: PAGE,
  };
}

/** Questions for the person about a task, open and closed, newest first. */
export function requestsAbout(uid: string, workspace: string, taskId: string): DocumentsQuery {
  return {
    collection: 'requests',
    where: [
      ['asked_of', '==', uid],
      ['workspace', '==', workspace],
      ['task_id', '==', taskId],
    ],
    orderBy: [['created_at', 'desc']],
    limit: PAGE,
  };
}

export function archivedSession(workspace: string, session: string): DocumentQuery {
  return { document: `workspaces/${workspace}/archive/${session}` };
}

/** Earlier goals of a workspace, the latest first. */
export function archivedSessions(workspace: string): DocumentsQuery {
  return {
    collection: `workspaces/${workspace}/archive`,
    where: [],
    orderBy: [['archived_at', 'desc']],
    limit: GOAL_PAGE,
  };
}

export function request(id: string): DocumentQuery {
  return { document: `requests/${id}` };
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

/** Open to-dos with a due date, earliest first. */
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

/** Open to-dos that are due before a time, earliest first. */
export function todosDueBy(uid: string, end: Date): DocumentsQuery {
  return {
    collection: 'todos',
    where: [
      ['owner_uid', '==', uid],
      ['completed', '==', false],
      ['due_date', '>', BEGINNING],
      ['due_date', '<', end],
    ],
    orderBy: [
      ['due_date', 'asc'],
      ['created_at', 'desc'],
    ],
    limit: PAGE,
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

/** Completed to-dos, newest first. */
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

/** Active recurring to-dos, newest first. */
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

/** Findings of a session's agents, newest first. */
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

function tasksOf(workspace: string, session: string, asked: Omit<DocumentsQuery, 'collection'>): DocumentsQuery {
  return {
    ...asked,
    collection: 'tasks',
    where: [['workspace', '==', workspace], ['session', '==', session], ...asked.where],
  };
}

function listed(collection: string, limit: number): DocumentsQuery {
  return { collection, where: [], orderBy: [], limit };
}

/** Calls in the latest minutes that have calls. */
export function latestMinutes(last: number): NodeQuery {
  return { node: 'metrics/minutes', last };
}

/** Calls in the latest days that have calls. */
export function latestDays(last: number): NodeQuery {
  return { node: 'metrics/days', last };
}
