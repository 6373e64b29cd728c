import { z } from 'zod';
import type { EditedOutcome } from '../rules/todos.ts';
import { defineTool, editAnswer, fewTags, taskId, writing, writtenShape } from './todoAnswers.ts';

export const addTaskTags = defineTool({
  name: 'add_task_tags',
  title: 'Tag a to-do',
  description: 'Adds tags to a to-do and keeps those it has; todo.update_task replaces them.',
  details: 'A tag that it has already, in whatever case, is not added again.',
  audience: 'older clients',
  input: z.strictObject({ task_id: taskId, tags: fewTags('Tags to add') }),
  output: writtenShape,
  ...writing({ destructiveHint: false, idempotentHint: true }),
  example: { task_id: 'todo-xxx-001', tags: ['urgent', 'bug'] },
  answer: (outcome: EditedOutcome) => editAnswer(outcome, 'Tags added.'),
  handler: ({ services, principal, recordAnswer }, { task_id, tags: moreTags }) =>
    services.todos.edit(principal.owner_uid, task_id, { moreTags }, recordAnswer),
});
