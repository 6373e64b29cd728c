/** The tools that manage single to-dos and their history. Source: the to-do specification. */
import { z } from 'zod';
import { partOf } from '../../../graph/rules/linking.ts';
import { WORKSPACE_FORM, WORKSPACE_NAME } from '../../../identity/rules/principal.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { idLike } from '../../../kernel/ids.ts';
import { clearArgument, clearedFields, listUpTo, optionalFields, textUpTo, wholeNumber } from '../../../mcp/tool.ts';
import { acceptanceArgument } from '../../coordination/index.ts';
import { DELEGATED_PRIORITY, type Delegated } from '../rules/delegation.ts';
import type { StartedRecurrence } from '../rules/recurring/recurringTasks.ts';
import type { ReopenedOutcome } from '../rules/reopening.ts';
import { eventMessage, messageOf } from '../rules/taskEvent.ts';
import { type Todo, todoResponse } from '../rules/todo.ts';
import type { EditedOutcome, EndedOutcome } from '../rules/todos.ts';
import { cursor, endShape, fittingPage, pageLimit, timePageOf } from './todoLists.ts';
import * as shapes from './todoResponses.ts';
import { defineTool } from './todoResponses.ts';

export const addTask = defineTool({
  name: 'add_task',
  title: 'Add a to-do',
  description: 'Adds a to-do or a recurring one. A due date adds a reminder.',
  details:
    'The reminder is an hour before the due date; your preferences can set another time. todo.create_recurring_task has more settings.',
  rare: ['timezone'],
  input: z.strictObject({
    title: shapes.title('Task title'),
    description: shapes.description('Task description'),
    due_date: shapes.date('Due, in UTC').optional(),
    when: textUpTo(200).optional().describe('In words: every second Monday 9:30'),
    timezone: shapes.timezone,
    priority: shapes.priority('Default: MEDIUM').optional(),
    tags: shapes.fewTags('Tags').optional(),
    part_of: partOf,
  }),
  output: shapes.writtenShape.extend({ recurring_task: shapes.recurringTaskShape.optional() }),
  ...shapes.writing({ destructiveHint: false, idempotentHint: false }),
  example: {
    title: 'Finish presentation',
    priority: 'HIGH',
    due_date: '2099-02-11T17:00:00Z',
    tags: ['work', 'urgent'],
  },
  response: (added: Todo | StartedRecurrence) =>
    'first' in added
      ? { ...shapes.startedResponse(added), task: todoResponse(added.first) }
      : shapes.writtenResponse(added, `Task '${added.title}' added.`),
  handler: async ({ services, principal, workspace, recordResponse }, { due_date, part_of, ...given }) => {
    const { when, timezone, ...texts } = given;
    const meant = when === undefined ? undefined : await services.todos.whenMeant(when, timezone);
    if (meant && (due_date !== undefined || ('rule' in meant && part_of)))
      throw new MusterError(
        'VALIDATION_ERROR',
        'when cannot be combined with due_date, and a repetition has no part_of.',
        { field: 'when', reason: 'CONTRADICTION', suggestion: 'Omit one of them.' },
      );
    if (meant && 'rule' in meant)
      return services.recurringTasks.create(principal.owner_uid, { ...texts, ...meant.rule }, recordResponse);
    const link = part_of && { link: { part_of: part_of, principal, workspace } };
    const draft = { ...texts, due_date: meant?.due ?? shapes.dateOf(due_date), ...link };
    return services.todos.add(principal.owner_uid, draft, recordResponse);
  },
});

export const updateTask = defineTool({
  name: 'update_task',
  title: 'Update a to-do',
  description:
    'Edits a to-do: title, description, due date, priority, tags. Omitted fields stay. Changes only one occurrence of a recurring to-do.',
  rare: ['clear'],
  input: z.strictObject({
    task_id: shapes.taskId,
    title: shapes.title('New title').optional(),
    description: shapes.description('New description'),
    due_date: shapes.date('New due date').optional(),
    priority: shapes.priority('New priority').optional(),
    tags: shapes.fewTags('Replace the old tags').optional(),
    clear: clearArgument('description', 'due_date'),
  }),
  output: shapes.writtenShape,
  ...shapes.writing({ destructiveHint: true, idempotentHint: true }),
  example: { task_id: 'todo-xxx-001', priority: 'HIGH' },
  response: (outcome: EditedOutcome) => shapes.editResponse(outcome, 'Task updated.'),
  handler: async ({ services, principal, recordResponse }, { task_id, clear, ...fields }) => {
    const { due_date, description, ...others } = fields;
    const changed = clearedFields(clear);
    const edit = {
      ...others,
      description: changed('description', description),
      due_date: changed('due_date', shapes.dateOf(due_date)),
    };
    shapes.requireChange(edit, 'title, description, due_date, priority, tags and clear');
    return services.todos.edit(principal.owner_uid, task_id, edit, recordResponse);
  },
});

export const setTaskDueDate = defineTool({
  name: 'set_task_due_date',
  title: "Set a to-do's due date",
  description: "Sets a to-do's due date and moves its reminder; null removes both.",
  input: z.strictObject({ task_id: shapes.taskId, due_date: shapes.dateOrNull('null removes it') }),
  ...shapes.setting,
  example: { task_id: 'todo-xxx-001', due_date: '2099-02-11T17:00:00Z' },
  response: (outcome: EditedOutcome, { due_date }) => {
    const dueDate = shapes.dateOf(due_date);
    return shapes.editResponse(outcome, dueDate ? `Due date set to ${dueDate.toISOString()}.` : 'Due date removed.');
  },
  handler: ({ services, principal, recordResponse }, { task_id, due_date }) =>
    services.todos.edit(principal.owner_uid, task_id, { due_date: shapes.dateOf(due_date) }, recordResponse),
});

export const setTaskPriority = defineTool({
  name: 'set_task_priority',
  title: "Set a to-do's priority",
  description: "Sets a to-do's priority.",
  input: z.strictObject({ task_id: shapes.taskId, priority: shapes.priority('New priority') }),
  ...shapes.setting,
  example: { task_id: 'todo-xxx-001', priority: 'HIGH' },
  response: (outcome: EditedOutcome, { priority: wanted }) =>
    shapes.editResponse(outcome, `Priority set to ${wanted}.`),
  handler: ({ services, principal, recordResponse }, { task_id, ...edit }) =>
    services.todos.edit(principal.owner_uid, task_id, edit, recordResponse),
});

export const addTaskTags = defineTool({
  name: 'add_task_tags',
  title: 'Tag a to-do',
  description: 'Adds tags to a to-do, keeping its others; todo.update_task replaces all tags.',
  details: 'Skips tags that the to-do already has, ignoring case.',
  input: z.strictObject({ task_id: shapes.taskId, tags: shapes.fewTags('Tags to add') }),
  ...shapes.setting,
  example: { task_id: 'todo-xxx-001', tags: ['urgent', 'bug'] },
  response: (outcome: EditedOutcome) => shapes.editResponse(outcome, 'Tags added.'),
  handler: ({ services, principal, recordResponse }, { task_id, tags: moreTags }) =>
    services.todos.edit(principal.owner_uid, task_id, { moreTags }, recordResponse),
});

export const completeTask = defineTool({
  name: 'complete_task',
  title: 'Complete a to-do',
  description: 'Completes a to-do. If it repeats, creates the next occurrence.',
  details: 'Deletes its reminder. Completing a completed to-do is an error and changes nothing.',
  input: z.strictObject({ task_id: shapes.taskId }),
  output: shapes.writtenShape.extend({
    next_occurrence: shapes.occurrenceShape.optional().describe('If the to-do is recurring, the next occurrence'),
  }),
  ...shapes.writing({ destructiveHint: false, idempotentHint: true }),
  example: { task_id: 'todo-xxx-001' },
  response: ({ todo, next }: EndedOutcome) => {
    const { sentence, ...rest } = shapes.following(next);
    return { ...shapes.writtenResponse(todo, `Task completed!${sentence}`), ...rest };
  },
  handler: ({ services, principal, recordResponse }, { task_id }) =>
    services.todos.complete(principal.owner_uid, task_id, recordResponse),
});

export const reopenTask = defineTool({
  name: 'reopen_task',
  title: 'Reopen a to-do',
  description: 'Reopens a completed to-do and its reminder.',
  details: 'For a recurring to-do, removes the occurrence created by its completion, unless it was changed.',
  input: z.strictObject({ task_id: shapes.taskId }),
  output: shapes.writtenShape.extend({
    removed_occurrence: z.string().optional(),
    kept_occurrence: z.string().optional(),
  }),
  ...shapes.writing({ destructiveHint: false, idempotentHint: false }),
  example: { task_id: 'todo-xxx-002' },
  response: ({ todo, next }: ReopenedOutcome) => {
    const kept = next?.isWithdrawn === false;
    const more = kept ? ' The next occurrence stays, because it was changed.' : '';
    return {
      ...shapes.writtenResponse(todo, `Task reopened.${more}`),
      removed_occurrence: next?.isWithdrawn ? next.todo.id : undefined,
      kept_occurrence: kept ? next.todo.id : undefined,
    };
  },
  handler: ({ services, principal, recordResponse }, { task_id }) =>
    services.todos.reopen(principal.owner_uid, task_id, recordResponse),
});

export const deleteTask = defineTool({
  name: 'delete_task',
  title: 'Delete a to-do',
  description:
    'Deletes a to-do permanently. If it repeats, skips this occurrence; todo.delete_recurring_task ends them all.',
  details: 'Also deletes its reminder. Creates the next occurrence of a recurring to-do. The history stays.',
  input: z.strictObject({ task_id: shapes.taskId }),
  output: optionalFields({ success: z.boolean(), message: z.string(), next_occurrence: shapes.occurrenceShape }),
  ...shapes.writing({ destructiveHint: true, idempotentHint: true }),
  example: { task_id: 'todo-xxx-001' },
  response: ({ todo, next }: EndedOutcome) => {
    const { sentence, ...rest } = shapes.following(next);
    return { success: true, message: `Task '${todo.title}' deleted.${sentence}`, ...rest };
  },
  handler: ({ services, principal, recordResponse }, { task_id }) =>
    services.todos.delete(principal.owner_uid, task_id, recordResponse),
});

export const delegate = defineTool({
  name: 'delegate',
  title: 'Delegate a to-do',
  description: "Delegates a to-do to a workspace's agents: creates a task whose completion completes the to-do.",
  details:
    "Workspace members see the to-do's title and description in the task. Otherwise they see only that the task belongs to a to-do. If the task fails or is cancelled, the to-do stays open, shows this, and can be delegated again.",
  rare: ['acceptance'],
  input: z.strictObject({
    task_id: shapes.taskId,
    workspace: idLike(WORKSPACE_NAME, WORKSPACE_FORM).optional().describe("Default: the call's"),
    priority: wholeNumber(1, 10).default(DELEGATED_PRIORITY).describe('1 (first) to 10 (last)'),
    required_capabilities: listUpTo(
      10,
      z.string().regex(/^[^|\s][^|]{0,99}$/u, 'expected 1 to 100 characters without "|"'),
    )
      .optional()
      .describe('Required capabilities of the agent'),
    hints: textUpTo(20_000).optional().describe('For the worker'),
    acceptance: acceptanceArgument,
  }),
  output: optionalFields({
    success: z.boolean(),
    task: shapes.taskShape,
    delegated: shapes.delegatedShape,
    message: z.string(),
  }),
  ...shapes.writing({ destructiveHint: false, idempotentHint: false }),
  // The to-do belongs to the caller's owner, and the task to the workspace, in which the caller needs a role.
  role: 'worker',
  scope: 'workspace',
  example: { task_id: 'todo-xxx-001', priority: 3 },
  response: ({ todo, task }: Delegated) => ({
    success: true,
    task: todoResponse(todo),
    delegated: { task_id: task.id, workspace: task.workspace, status: 'open' as const },
    message: `To-do '${todo.title}' delegated as ${task.id} in the workspace ${task.workspace}.`,
  }),
  handler: ({ services, principal, workspace: own, recordResponse }, written) => {
    const { task_id: todoId, workspace = own, required_capabilities = [], ...rest } = written;
    const request = { ...rest, todoId, workspace, required_capabilities };
    return services.delegation.delegate(principal, request, recordResponse);
  },
});

const object = z.record(z.string(), z.unknown());

const eventShape = eventMessage.extend({
  event_type: z.string(),
  schema_version: z.int(),
  event_data: z.object({ before: object.nullable(), after: object.nullable(), changes: z.array(z.string()) }),
});

export const getTaskHistory = defineTool({
  name: 'get_task_history',
  title: 'To-do history',
  description: "Lists a to-do's history, newest first, even if the to-do was deleted.",
  details: 'Includes creations, updates, completions, reminders and deletions, with the to-do before and after each.',
  input: z.strictObject({ task_id: shapes.taskId, limit: pageLimit(20), cursor }),
  output: optionalFields({ events: z.array(eventShape), ...endShape }),
  ...shapes.reading,
  example: { task_id: 'todo-xxx-001' },
  handler: async ({ services, principal }, { task_id, ...asked }) => {
    const page = timePageOf({ task_id }, asked);
    const found = await services.todos.history(principal.owner_uid, task_id, page);
    const { answers, end } = fittingPage({ task_id }, found, messageOf, ({ timestamp }) => timestamp);
    return { events: answers, ...end };
  },
});
