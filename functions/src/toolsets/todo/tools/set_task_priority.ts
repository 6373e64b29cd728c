import { z } from 'zod';
import { defineTool } from '../../../mcp/tool.ts';
import { edited, priority, taskId, writing, writtenShape } from './shapes.ts';

export const setTaskPriority = defineTool({
  name: 'set_task_priority',
  title: "Set a to-do's priority",
  description: 'Sets the priority of a to-do.',
  input: z.strictObject({ task_id: taskId, priority: priority('New priority') }),
  output: writtenShape,
  annotations: { ...writing, destructiveHint: false, idempotentHint: true },
  role: 'viewer',
  example: { task_id: 'todo-xxx-001', priority: 'HIGH' },
  handler: (context, { task_id, priority: wanted }) =>
    edited(context, task_id, { priority: wanted }, `Priority set to ${wanted}.`),
});
