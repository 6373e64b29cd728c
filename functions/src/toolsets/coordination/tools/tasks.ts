/** Tools that create, update, cancel and retry tasks, and reopen sessions. Source: the coordination specification. */
import { z } from 'zod';
import { partOf } from '../../../graph/rules/linking.ts';
import { idOf } from '../../../kernel/ids.ts';
import { clearArgument, clearedFields, optionalList, writing } from '../../../mcp/tool.ts';
import type { RestoredSession } from '../rules/archives.ts';
import { MAX_BATCH } from '../rules/creation.ts';
import type { Task } from '../rules/task.ts';
import type { RequeuedTask } from '../rules/taskActions.ts';
import type { UpdatedTask } from '../rules/taskUpdates.ts';
import * as shapes from './coordinationResponses.ts';

export const createTask = shapes.defineTool({
  name: 'create_task',
  title: 'Create a task',
  description:
    'Adds a task to the queue for workers to claim. Several: coordination.create_tasks_batch; for a coding agent: coding.create_task.',
  details: 'Agents get tasks by priority, then deadline, then age, once all dependencies are done.',
  rare: ['type'],
  input: z.strictObject({ ...shapes.taskArguments, priority: shapes.priority.default(shapes.DEFAULT_PRIORITY) }),
  output: z.object({ success: z.boolean(), task: shapes.taskShape }),
  ...writing('leader', { destructiveHint: false, idempotentHint: false }),
  example: {
    description: 'Implement user login endpoint',
    priority: 1,
    dependencies: ['task-xxx-001'],
    context_files: ['src/auth/login.ts'],
    hints: 'Use JWT for tokens, bcrypt for passwords',
  },
  response: ([task]: readonly Task[]) => {
    if (task === undefined) throw new Error('The created task is missing.');
    return { success: true, task: shapes.taskResponse(task) };
  },
  handler: ({ services, workspace, principal, recordResponse }, written) => {
    const createdBy = principal.agent_id ?? principal.uid;
    const request = { workspace, createdBy, opener: principal, viewer: principal, drafts: [shapes.draftOf(written)] };
    return services.taskCreation.create(request, recordResponse);
  },
});

export const createTasksBatch = shapes.defineTool({
  name: 'create_tasks_batch',
  title: 'Create several tasks',
  description:
    'Adds several tasks in one call, all or none. In dependencies, "task-N" is the N-th task of this batch, from 1.',
  rare: ['acceptance', 'context_files', 'deadline', 'hints', 'type'],
  input: z.strictObject({
    tasks: z
      .array(z.strictObject({ ...shapes.taskArguments, priority: shapes.priority.optional() }))
      .refine((tasks) => tasks.length >= 1 && tasks.length <= MAX_BATCH, `expected 1 to ${MAX_BATCH} tasks`)
      .describe('Tasks to create'),
    part_of: partOf.describe('Default for all tasks'),
  }),
  output: z.object({ success: z.boolean(), created: z.number(), task_ids: z.array(z.string()) }),
  ...writing('leader', { destructiveHint: false, idempotentHint: false }),
  example: {
    tasks: [
      { description: 'Create User model', priority: 1 },
      { description: 'Create login endpoint', priority: 2, dependencies: ['task-1'] },
      { description: 'Create logout endpoint', priority: 3, dependencies: ['task-2'] },
    ],
  },
  response: (tasks: readonly Task[]) => ({ success: true, created: tasks.length, task_ids: tasks.map(({ id }) => id) }),
  handler: ({ services, workspace, principal, recordResponse }, { tasks, part_of }) => {
    const createdBy = principal.agent_id ?? principal.uid;
    const drafts = tasks.map((task) => shapes.draftOf({ part_of, ...task }));
    const request = { workspace, createdBy, opener: principal, viewer: principal, drafts, isBatch: true };
    return services.taskCreation.create(request, recordResponse);
  },
});

const { description, dependencies, context_files, hints, required_capabilities, deadline } = shapes.taskArguments;

export const updateTask = shapes.defineTool({
  name: 'update_task',
  title: 'Update a task',
  description:
    'Changes an open task in the queue: description, priority, dependencies and more. For its creator and leaders. Omitted fields stay; lists are replaced.',
  details:
    'Dependencies are checked as they are when a task is created. A held task can only depend on completed tasks. The holder sees the changes when it reads the task.',
  rare: ['context_files', 'clear', 'acceptance'],
  input: z.strictObject({
    task_id: shapes.taskId,
    description: description.optional(),
    priority: shapes.priority.optional(),
    dependencies,
    required_capabilities,
    hints,
    context_files,
    deadline,
    clear: clearArgument('hints', 'deadline', 'acceptance'),
    acceptance: shapes.acceptanceArgument,
  }),
  output: z.object({ success: z.boolean(), message: z.string().optional(), task: shapes.taskShape }),
  ...writing('worker', { destructiveHint: false, idempotentHint: true }),
  example: { task_id: 'task-xxx-001', priority: 2, clear: ['deadline'] },
  response: ({ task, isChanged }: UpdatedTask) => ({
    success: true,
    message: isChanged ? undefined : 'Nothing changed: the task already has these values.',
    task: shapes.taskResponse(task),
  }),
  handler: ({ services, principal, recordResponse }, { task_id, clear, context_files: files, ...wishes }) => {
    const changed = clearedFields(clear);
    const due = wishes.deadline === undefined ? undefined : new Date(wishes.deadline);
    const cleared = {
      hints: changed('hints', wishes.hints),
      deadline: changed('deadline', due),
      acceptance: changed('acceptance', wishes.acceptance),
    };
    return services.taskUpdates.update(principal, { taskId: task_id, ...wishes, files, ...cleared }, recordResponse);
  },
});

export const cancelTask = shapes.defineTool({
  name: 'cancel_task',
  title: 'Cancel a task',
  description:
    'Cancels an open task in the queue, even if claimed. For its creator and leaders. Its runner or run stops within seconds; undo: coordination.retry_task.',
  details: 'The holder is notified on its next call. Dependents cannot start unless the task is retried.',
  input: z.strictObject({ task_id: shapes.taskId, reason: shapes.text('Shown to holder', 2000).optional() }),
  output: z.object({
    success: z.boolean(),
    task: shapes.taskShape,
    blocked_tasks: z.array(z.string()).optional().describe('Dependents that can no longer start.'),
  }),
  ...writing('worker', { destructiveHint: true, idempotentHint: false }),
  example: { task_id: 'task-xxx-002', reason: 'No longer wanted' },
  response: (task: Task) => ({
    success: true,
    task: shapes.taskResponse(task),
    blocked_tasks: optionalList(task.dependents),
  }),
  handler: ({ services, principal, recordResponse }, { task_id, reason }) =>
    services.taskLevers.cancel(principal, { taskId: task_id, reason }, recordResponse),
});

export const retryTask = shapes.defineTool({
  name: 'retry_task',
  title: 'Retry a task',
  description:
    'Requeues a failed or cancelled task, so that its dependents can still start. For its creator and leaders.',
  rare: ['comments'],
  details:
    'comments sends back the result of a task that is done or being verified: its author, or else another agent, gets it again with the comments. A done task can be sent back until one of its dependents has begun. with_dependents also requeues direct and indirect dependents that failed or were cancelled, at most 100 per call. The previous outcome is kept in earlier_ends, the retry count restarts, and reports from the last holder are rejected.',
  input: z.strictObject({
    task_id: shapes.taskId,
    comments: shapes.text('What to change in a done or verifying task', 5000).optional(),
    with_dependents: z.boolean().default(false).describe('Also failed/cancelled dependents'),
  }),
  output: z.object({
    success: z.boolean(),
    task: shapes.taskShape,
    retried_dependents: z.array(z.string()).optional(),
    truncated: z.boolean().optional().describe('true if more dependents remain: call again with one of them.'),
    message: z.string().optional(),
  }),
  ...writing('worker', { destructiveHint: false, idempotentHint: false }),
  example: { task_id: 'task-xxx-004', with_dependents: true },
  response: ({ task, dependents, isTruncated, wasDone }: RequeuedTask) => ({
    success: true,
    task: shapes.taskResponse(task),
    retried_dependents: optionalList(dependents),
    truncated: isTruncated || undefined,
    message: wasDone && task.part_of?.kind === 'todo' ? 'The to-do that it completed stays completed.' : undefined,
  }),
  handler: ({ services, principal, recordResponse }, { task_id, with_dependents, comments }) => {
    const retry = { taskId: task_id, withDependents: with_dependents, comments };
    return services.taskLevers.retry(principal, retry, recordResponse);
  },
});

export const reopen = shapes.defineTool({
  name: 'reopen',
  title: 'Reopen a session',
  description: 'Restores an archived session with its tasks and archives the open one.',
  details:
    'Without session_id, restores the last archived session. Tasks of runs were cancelled when the session was archived, and the runs ended. Start those workflows again. Other tasks are restored unchanged.',
  input: z.strictObject({ session_id: idOf('a session').optional().describe('Default: the last archived') }),
  output: z.object({
    success: z.boolean(),
    session_id: z.string(),
    goal: z.string(),
    created_at: z.string(),
    open_tasks: shapes.archivedShape.open_tasks,
    held_tasks: shapes.archivedShape.held_tasks,
    archived_session: z.object(shapes.archivedShape).optional().describe('The session that was open before.'),
  }),
  ...writing('leader', { destructiveHint: true, idempotentHint: false }),
  example: {},
  response: ({ session, open, held, archived }: RestoredSession) => ({
    success: true,
    session_id: session.id,
    goal: session.goal,
    created_at: session.created_at,
    open_tasks: open,
    held_tasks: held,
    archived_session: archived && shapes.archivedResponse(archived),
  }),
  handler: ({ services, workspace, recordResponse }, { session_id }) =>
    services.coordination.archives.restore(workspace, session_id, recordResponse),
});
