import { z } from 'zod';
import { defineTool } from '../../../mcp/tool.ts';
import { statusAnswer, statusShape } from './arguments.ts';

export const getStatus = defineTool({
  name: 'get_status',
  title: 'Coordination status',
  description: "Tells the session's goal, progress, agents and counts of tasks.",
  input: z.strictObject({}),
  output: statusShape,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  role: 'viewer',
  example: {},
  handler: async ({ services, workspace }) => statusAnswer(await services.coordination.status(workspace)),
});
