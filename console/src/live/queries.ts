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
  return documentsOf(`workspaces/${workspace}/sessions/${session}/counters`, { limit: MAX_SHARDS });
}

/** Members of a workspace. This query only counts the members; `access.list_members` returns their names. */
export function membersOf(workspace: string): DocumentsQuery {
  return documentsOf(`workspaces/${workspace}/members`, {});
}

/** Tasks that any agent holds, oldest first. */
export function heldTasks(workspace: string, session: string): DocumentsQuery {
  return documentsOf('tasks', {
    is: { workspace, session },
    where: [['status', 'in', HELD_STATUSES]],
    by: ['created_at'],
    limit: OPEN_PAGE,
  });
}

/** Available tasks, in queue order. */
export function claimableTasks(workspace: string, session: string): DocumentsQuery {
  return documentsOf('tasks', {
    is: { workspace, session, status: 'available', blockers: 0 },
    by: ['priority', 'created_at'],
    limit: OPEN_PAGE,
  });
}

/** Tasks that wait for dependencies or for a retry, and stuck tasks. */
export function blockedTasks(workspace: string, session: string): DocumentsQuery {
  return documentsOf('tasks', {
    is: { workspace, session, status: 'available' },
    where: [['blockers', '>', 0]],
    by: ['blockers', 'priority', 'created_at'],
    limit: OPEN_PAGE,
  });
}

/** Closed tasks with a status, newest first. */
export function closedTasks(workspace: string, session: string, status: string): DocumentsQuery {
  return documentsOf('tasks', { is: { workspace, session, status }, by: ['-completed_at'] });
}

/** Stuck tasks. */
export function stuckTasks(workspace: string, session: string): DocumentsQuery {
  return documentsOf('tasks', { is: { workspace, session, status: 'available', stuck: true }, by: ['created_at'] });
}

/** Open tasks that wait for a budget. */
export function unfundedTasks(workspace: string, session: string): DocumentsQuery {
  return documentsOf('tasks', {
    is: { workspace, session },
    where: [
      ['status', 'in', OPEN_STATUSES],
      ['budget_wait', '>', ''],
    ],
    by: ['budget_wait'],
  });
}

/** Open tasks with a failed check, newest first. */
export function redTasks(workspace: string, session: string): DocumentsQuery {
  return documentsOf('tasks', {
    is: { workspace, session },
    where: [
      ['status', 'in', OPEN_STATUSES],
      ['failed_check.at', '>', BEGINNING],
    ],
    by: ['-failed_check.at'],
  });
}

/** Available tasks whose previous lease has expired. */
export function releasedTasks(workspace: string, session: string): DocumentsQuery {
  return documentsOf('tasks', {
    is: { workspace, session, status: 'available' },
    where: [['lapsed_claims', '>', []]],
    by: ['lapsed_claims'],
  });
}

/** Held tasks, in the order in which their leases end. */
export function expiringTasks(workspace: string, session: string): DocumentsQuery {
  return documentsOf('tasks', {
    is: { workspace, session },
    where: [
      ['status', 'in', ['claimed', 'in_progress']],
      ['lease_expires_at', '>', BEGINNING],
    ],
    by: ['lease_expires_at'],
  });
}

/** Tasks that are being verified, in the order in which their results were handed in. */
export function verifyingTasks(workspace: string, session: string): DocumentsQuery {
  return documentsOf('tasks', {
    is: { workspace, session, status: 'waiting' },
    where: [['proof.since', '>', BEGINNING]],
    by: ['proof.since'],
  });
}

/** Tasks in every state that a search finds, newest first. @param word the result of `taskSearchWord` */
export function tasksWithWord(workspace: string, word: string): DocumentsQuery {
  return documentsOf('tasks', {
    is: { workspace },
    where: [['words', 'array-contains', word]],
    by: ['-created_at'],
    limit: FOUND_PAGE,
  });
}

export function task(id: string): DocumentQuery {
  return { document: `tasks/${id}` };
}

/** Last chunks of a task's log, newest first. */
export function latestLog(task: { readonly id: string; readonly workspace: string }): DocumentsQuery {
  return documentsOf(`tasks/${task.id}/logs`, { is: { workspace: task.workspace }, by: ['-first_line'], limit: 2 });
}

/** Chunks of a log before a line, newest first. They are read only once, because they no longer change. */
export function olderLog(task: { readonly id: string; readonly workspace: string }, before: number): DocumentsQuery {
  return documentsOf(`tasks/${task.id}/logs`, {
    is: { workspace: task.workspace },
    where: [['first_line', '<', before]],
    by: ['-first_line'],
    limit: 10,
  });
}

/** Messages about a task, newest first. */
export function taskMessages(workspace: string, taskId: string, limit = PAGE): DocumentsQuery {
  return documentsOf(`tasks/${taskId}/messages`, { is: { workspace }, by: ['-at'], limit });
}

/** Agents of a workspace, last seen first. For agents of `default`, the stored workspace is null. */
export function agentsOf(workspace: string, limit = AGENT_PAGE): DocumentsQuery {
  return documentsOf('agents', {
    is: { workspace: workspace === 'default' ? null : workspace },
    by: ['-last_seen'],
    limit,
  });
}

/** Questions for the person, newest first. */
export function requestsTo(uid: string): DocumentsQuery {
  return documentsOf('requests', { is: { asked_of: uid, state: 'open' }, by: ['-created_at'] });
}

/** Closed questions for the person in a workspace, with the latest end first. */
export function answeredRequests(uid: string, workspace: string): DocumentsQuery {
  return documentsOf('requests', {
    is: { asked_of: uid, workspace },
    where: [['state', 'in', CLOSED_STATES]],
    by: ['-settled_at'],
  });
}

/** Questions for the person about a task, open and closed, newest first. */
export function requestsAbout(uid: string, workspace: string, taskId: string): DocumentsQuery {
  return documentsOf('requests', { is: { asked_of: uid, workspace, task_id: taskId }, by: ['-created_at'] });
}

export function archivedSession(workspace: string, session: string): DocumentQuery {
  return { document: `workspaces/${workspace}/archive/${session}` };
}

/** Earlier goals of a workspace, the latest first. */
export function archivedSessions(workspace: string): DocumentsQuery {
  return documentsOf(`workspaces/${workspace}/archive`, { by: ['-archived_at'], limit: GOAL_PAGE });
}

export function request(id: string): DocumentQuery {
  return { document: `requests/${id}` };
}

export function runsOf(uid: string, workspace: string): DocumentsQuery {
  return documentsOf('runs', { is: { owner_uid: uid, workspace }, by: ['-created_at'] });
}

export function run(id: string): DocumentQuery {
  return { document: `runs/${id}` };
}

/** Open to-dos with a due date, earliest first. */
export function dueTodos(uid: string): DocumentsQuery {
  return documentsOf('todos', {
    is: { owner_uid: uid, completed: false },
    where: [['due_date', '>', BEGINNING]],
    by: ['due_date', '-created_at'],
    limit: TODO_PAGE,
  });
}

/** Open to-dos that are due before a time, earliest first. */
export function todosDueBy(uid: string, end: Date): DocumentsQuery {
  return documentsOf('todos', {
    is: { owner_uid: uid, completed: false },
    where: [
      ['due_date', '>', BEGINNING],
      ['due_date', '<', end],
    ],
    by: ['due_date', '-created_at'],
  });
}

/** Open to-dos without a date, newest first. */
export function undatedTodos(uid: string): DocumentsQuery {
  return documentsOf('todos', {
    is: { owner_uid: uid, completed: false, due_date: null },
    by: ['-created_at'],
    limit: TODO_PAGE,
  });
}

export function todo(id: string): DocumentQuery {
  return { document: `todos/${id}` };
}

/** Completed to-dos, newest first. */
export function doneTodos(uid: string): DocumentsQuery {
  return documentsOf('todos', { is: { owner_uid: uid, completed: true }, by: ['-completed_at'] });
}

/** Active recurring to-dos, newest first. */
export function recurringOf(uid: string): DocumentsQuery {
  return documentsOf('recurringTasks', { is: { owner_uid: uid, ended: false }, by: ['-created_at'] });
}

/** Findings of a session's agents, newest first. */
export function discoveriesOf(workspace: string, session: string): DocumentsQuery {
  return documentsOf('discoveries', { is: { workspace, session }, by: ['-created_at'], limit: DISCOVERY_PAGE });
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

interface Listed {
  /** Fields that must have a value. */
  readonly is?: Readonly<Record<string, unknown>>;
  readonly where?: DocumentsQuery['where'];
  /** Fields that order the documents. A minus before a field reverses its order. */
  readonly by?: readonly string[];
  readonly limit?: number;
}

function documentsOf(collection: string, { is = {}, where = [], by = [], limit = PAGE }: Listed): DocumentsQuery {
  return {
    collection,
    where: [...Object.entries(is).map(([field, value]) => [field, '==', value] as const), ...where],
    orderBy: by.map((field) => (field.startsWith('-') ? [field.slice(1), 'desc'] : [field, 'asc'])),
    limit,
  };
}

/** Calls in the latest minutes that have calls. */
export function latestMinutes(last: number): NodeQuery {
  return { node: 'metrics/minutes', last };
}

/** Calls in the latest days that have calls. */
export function latestDays(last: number): NodeQuery {
  return { node: 'metrics/days', last };
}
