/** Two small toolsets for tests of the MCP endpoint. */
import { z } from 'zod';
import { MusterError } from '../../functions/src/kernel/errors.ts';
import { type Toolset, toolsFor } from '../../functions/src/mcp/tool.ts';

const reads = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
const writes = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false };

const echo = toolsFor<unknown>()({
  name: 'echo',
  title: 'Echo',
  description: 'Answers what it was given.',
  input: z.strictObject({
    text: z.string().max(20).describe('What to answer'),
    items: z
      .array(z.strictObject({ size: z.number().optional().describe('How big') }))
      .optional()
      .describe('Things'),
    data: z.unknown().describe('Anything'),
  }),
  output: z.object({ text: z.string(), workspace: z.string(), baseUrl: z.string() }),
  annotations: reads,
  role: 'viewer',
  example: { text: 'hello', data: null },
  handler: async ({ workspace, baseUrl }, { text }) => ({ text, workspace, baseUrl }),
});

/** Returns a toolset whose tool `increment` counts its executions and stores each response, as a service does. */
export function counterToolset(store: Map<string, unknown>): Toolset {
  let count = 0;
  const increment = toolsFor<unknown>()({
    name: 'increment',
    title: 'Increment',
    description: 'Adds to the counter.',
    input: z.strictObject({ by: z.number().default(1).describe('How much') }),
    output: z.object({ count: z.number() }),
    annotations: writes,
    role: 'worker',
    example: {},
    handler: async ({ operation }, { by }) => {
      count += by;
      const settled = operation.recordResponse({ count })?.response;
      if (settled !== undefined) store.set(settled.id, settled);
      return { count };
    },
  });
  const fail = toolsFor<unknown>()({
    name: 'fail',
    title: 'Fail',
    description: 'Fails as asked.',
    input: z.strictObject({ how: z.enum(['known', 'unforeseen', 'bad_answer']).describe('In which way') }),
    output: z.object({ ok: z.boolean() }),
    annotations: writes,
    role: 'admin',
    example: { how: 'known' },
    handler: async (_context, { how }) => {
      if (how === 'unforeseen') throw new Error('secret detail at /srv/path');
      if (how === 'bad_answer') return { ok: 'yes' as unknown as boolean };
      throw new MusterError('NOT_FOUND', 'Task task-1 not found.', {
        field: 'task_id',
        value: 'task-1',
        suggestion: 'List the tasks.',
      });
    },
  });
  const status = {
    uri: 'coordination://status',
    name: 'status',
    title: 'Status',
    description: 'How things are.',
    mimeType: 'application/json',
    role: 'viewer' as const,
    read: async () => JSON.stringify({ count }),
  };
  return { name: 'coordination', instructions: 'Counts.', tools: [increment, fail], resources: [status] };
}

export const systemToolset: Toolset = { name: 'system', instructions: 'Echoes.', tools: [echo], resources: [] };
