import { z } from 'zod';
import type { EditedOutcome } from '../rules/todos.ts';
import { defineTool, editAnswer, priority, taskId, writing, writtenShape } from './todoAnswers.ts';

export const setTaskPriority = defineTool({
  name: 'set_task_priority',
  title: "Set a to-do's priority",
  description: 'Sets the priority of a to-do.',
  audience: 'older clients',
  input: z.strictObject({ task_id: taskId, priority: priority('New priority') }),
  output: writtenShape,
  ...writing({ destructiveHint: false, idempotentHint: true }),
  example: { task_id: 'todo-xxx-001', priority: 'HIGH' },
  answer: (outcome: EditedOutcome, { priority: wanted }) => editAnswer(outcome, `Priority set to ${wanted}.`),
  handler: ({ services, principal, recordAnswer }, { task_id, ...edit }) =>
    services.todos.edit(principal.owner_uid, task_id, edit, recordAnswer),
});
