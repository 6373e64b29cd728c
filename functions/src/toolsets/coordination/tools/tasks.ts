/** The tools that create tasks, change, cancel, retry and reopen them. Source: the coordination specification. */
import { z } from 'zod';
import { partOf } from '../../../graph/rules/linking.ts';
import { idOf } from '../../../kernel/ids.ts';
import { clearArgument, clearing } from '../../../mcp/tool.ts';
import type { Reopened } from '../rules/archives.ts';
import { MAX_BATCH } from '../rules/creation.ts';
import type { Revived } from '../rules/levers.ts';
import type { Task } from '../rules/task.ts';
import type { UpdatedTask } from '../rules/updating.ts';
import {
  archivedAnswer,
  archivedShape,
  defineTool,
  draftOf,
  priority,
  some,
  taskAnswer,
  taskArguments,
  taskId,
  taskShape,
  text,
  USUAL_PRIORITY,
} from './coordinationAnswers.ts';

export const createTask = defineTool({
  name: 'create_task',
  title: 'Create a task',
  description:
    'Adds a task to the queue for workers to claim; coordination.create_tasks_batch adds several, coding.create_task one for a coding agent.',
  details: 'Workers get tasks by priority, then deadline, then age, once all dependencies are done.',
  input: z.strictObject({ ...taskArguments, priority: priority.default(USUAL_PRIORITY) }),
  output: z.object({ success: z.boolean(), task: taskShape }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  loosens: [],
  role: 'leader',
  example: {
    description: 'Implement user login endpoint',
    priority: 1,
    dependencies: ['task-xxx-001'],
    context_files: ['src/auth/login.ts'],
    hints: 'Use JWT for tokens, bcrypt for passwords',
  },
  answer: ([task]: readonly Task[]) => {
    if (task === undefined) throw new Error('A task was created and is not there.');
    return { success: true, task: taskAnswer(task) };
  },
  handler: ({ services, workspace, principal, recordAnswer }, written) => {
    const createdBy = principal.agent_id ?? principal.uid;
    const request = {
      workspace,
      createdBy,
      opener: principal,
      viewer: principal,
      drafts: [draftOf(written)],
    };
    return services.taskCreation.create(request, recordAnswer);
  },
});

export const createTasksBatch = defineTool({
  name: 'create_tasks_batch',
  title: 'Create several tasks',
  description:
    'Adds several tasks at once, all or none. In dependencies, "task-N" is the N-th task of this batch, counted from 1.',
  input: z.strictObject({
    tasks: z
      .array(z.strictObject({ ...taskArguments, priority: priority.optional() }))
      .refine((tasks) => tasks.length >= 1 && tasks.length <= MAX_BATCH, `expected 1 to ${MAX_BATCH} tasks`)
      .describe('Tasks to create'),
    part_of: partOf.describe('Of those that name none'),
  }),
  output: z.object({ success: z.boolean(), created: z.number(), task_ids: z.array(z.string()) }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  loosens: [],
  role: 'leader',
  example: {
    tasks: [
      { description: 'Create User model', priority: 1 },
      { description: 'Create login endpoint', priority: 2, dependencies: ['task-1'] },
      { description: 'Create logout endpoint', priority: 3, dependencies: ['task-2'] },
    ],
  },
  answer: (tasks: readonly Task[]) => ({
    success: true,
    created: tasks.length,
    task_ids: tasks.map(({ id }) => id),
  }),
  handler: ({ services, workspace, principal, recordAnswer }, { tasks, part_of }) => {
    const createdBy = principal.agent_id ?? principal.uid;
    const drafts = tasks.map((task) => draftOf({ part_of, ...task }));
    const by = { createdBy, opener: principal, viewer: principal };
    const request = { workspace, ...by, drafts, isBatch: true };
    return services.taskCreation.create(request, recordAnswer);
  },
});

const { description, dependencies, context_files, hints, required_capabilities, deadline } = taskArguments;

export const updateTask = defineTool({
  name: 'update_task',
  title: 'Update a task',
  description:
    'Changes what an open task asks for: for its creator and leaders. What is left out stays, clear removes; lists are replaced.',
  details:
    'Dependencies are checked as at creation. A task that somebody holds can only depend on what is done; other changes its holder finds in the task.',
  input: z.strictObject({
    task_id: taskId,
    description: description.optional(),
    priority: priority.optional(),
    dependencies,
    required_capabilities,
    hints,
    context_files,
    deadline,
    clear: clearArgument('hints', 'deadline'),
  }),
  output: z.object({ success: z.boolean(), message: z.string().optional(), task: taskShape }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  loosens: [],
  role: 'worker',
  example: { task_id: 'task-xxx-001', priority: 2, clear: ['deadline'] },
  answer: ({ task, isChanged }: UpdatedTask) => ({
    success: true,
    message: isChanged ? undefined : 'Nothing changed: the task already has these values.',
    task: taskAnswer(task),
  }),
  handler: ({ services, principal, recordAnswer }, { task_id, clear, ...wishes }) => {
    const changed = clearing(clear);
    const deadlineDate = wishes.deadline === undefined ? undefined : new Date(wishes.deadline);
    return services.taskUpdates.update(
      principal,
      {
        taskId: task_id,
        description: wishes.description,
        priority: wishes.priority,
        dependencies: wishes.dependencies,
        required_capabilities: wishes.required_capabilities,
        hints: changed('hints', wishes.hints),
        files: wishes.context_files,
        deadline: changed('deadline', deadlineDate),
      },
      recordAnswer,
    );
  },
});

export const cancelTask = defineTool({
  name: 'cancel_task',
  title: 'Cancel a task',
  description:
    'Cancels an open task, whoever holds it: for its creator and leaders. Its runner or run stops within seconds; coordination.retry_task undoes it.',
  details:
    'Its holder hears it with the next call. Tasks that depend on it will never start until it is tried again.',
  input: z.strictObject({ task_id: taskId, reason: text('Why, for its holder', 2000).optional() }),
  output: z.object({
    success: z.boolean(),
    task: taskShape,
    blocked_tasks: z.array(z.string()).optional().describe('Tasks that depend on it and will never start.'),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  loosens: [],
  role: 'worker',
  example: { task_id: 'task-xxx-002', reason: 'No longer wanted' },
  answer: (task: Task) => ({ success: true, task: taskAnswer(task), blocked_tasks: some(task.dependents) }),
  handler: ({ services, principal, recordAnswer }, { task_id, reason }) =>
    services.taskLevers.cancel(principal, { taskId: task_id, reason }, recordAnswer),
});

export const retryTask = defineTool({
  name: 'retry_task',
  title: 'Try a task again',
  description:
    'Puts a task that failed or was cancelled into the queue again: for its creator and leaders. What waits for it can start again.',
  details:
    'with_dependents does so with those that depend on it, directly or not, and have failed or been cancelled too: at most 100 in one call. How it ended before stays in earlier_ends, its tries begin anew, and its former holders are heard no more.',
  input: z.strictObject({
    task_id: taskId,
    with_dependents: z.boolean().default(false).describe('Also those after it that ended so'),
  }),
  output: z.object({
    success: z.boolean(),
    task: taskShape,
    retried_dependents: z.array(z.string()).optional(),
    truncated: z.boolean().optional().describe('There are more: call again for one of those that were left.'),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  loosens: [],
  role: 'worker',
  example: { task_id: 'task-xxx-004', with_dependents: true },
  answer: ({ task, dependents, isCut }: Revived) => ({
    success: true,
    task: taskAnswer(task),
    retried_dependents: some(dependents),
    truncated: isCut || undefined,
  }),
  handler: ({ services, principal, recordAnswer }, { task_id, with_dependents }) =>
    services.taskLevers.retry(principal, { taskId: task_id, withDependents: with_dependents }, recordAnswer),
});

export const reopen = defineTool({
  name: 'reopen',
  title: 'Reopen a session',
  description: 'Brings an archived session back with its tasks, and archives the open one.',
  details:
    'Without session_id it is the one that was archived last. Tasks that runs waited for were cancelled with the archiving, and their runs have ended: start those workflows again. All other tasks are as they were.',
  input: z.strictObject({
    session_id: idOf('a session').optional().describe('The last archived if left out'),
  }),
  output: z.object({
    success: z.boolean(),
    session_id: z.string(),
    goal: z.string(),
    created_at: z.string(),
    open_tasks: archivedShape.open_tasks,
    held_tasks: archivedShape.held_tasks,
    archived_session: z.object(archivedShape).optional().describe('The session that made room.'),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  loosens: [],
  role: 'leader',
  example: {},
  answer: ({ session, open, held, archived }: Reopened) => ({
    success: true,
    session_id: session.id,
    goal: session.goal,
    created_at: session.created_at.toISOString(),
    open_tasks: open,
    held_tasks: held,
    archived_session: archived && archivedAnswer(archived),
  }),
  handler: ({ services, workspace, recordAnswer }, { session_id }) =>
    services.coordination.archives.reopen(workspace, session_id, recordAnswer),
});
