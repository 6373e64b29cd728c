import { z } from 'zod';
import { defineTool } from '../../../mcp/tool.ts';
import { edited, fewTags, taskId, writing, writtenShape } from './shapes.ts';

export const addTaskTags = defineTool({
  name: 'add_task_tags',
  title: 'Tag a to-do',
  description: 'Adds tags to a to-do and keeps those it has; todo_update_task replaces them.',
  details: 'A tag that it has already, in whatever case, is not added again.',
  input: z.strictObject({ task_id: taskId, tags: fewTags('Tags to add') }),
  output: writtenShape,
  annotations: { ...writing, destructiveHint: false, idempotentHint: true },
  role: 'viewer',
  example: { task_id: 'todo-xxx-001', tags: ['urgent', 'bug'] },
  handler: (context, { task_id, tags }) => edited(context, task_id, { moreTags: tags }, 'Tags added.'),
});
