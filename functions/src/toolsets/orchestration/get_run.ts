import { z } from 'zod';
import { defineTool } from '../../mcp/tool.ts';
import { runAnswer } from './runAnswer.ts';
import { awaitedRun, LONGEST_WAIT_MS } from './running.ts';
import { runId, runShape } from './shapes.ts';

export const getRun = defineTool({
  name: 'get_run',
  title: 'Get a run',
  description:
    'What a run of yours has come to: its result, steps, attempts and cost. Waits for its end for up to waitMs.',
  input: z.strictObject({
    runId,
    waitMs: z
      .number()
      .int()
      .min(0)
      .max(LONGEST_WAIT_MS)
      .default(0)
      .describe('How long to wait for its end, in milliseconds; 0 answers at once'),
    full: z.boolean().default(false).describe('Whether to answer the output of every step whole'),
  }),
  output: runShape,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  role: 'viewer',
  notifies: true,
  example: { runId: 'run-abcdefghijklmnopqrst' },
  handler: async (context, { runId: id, waitMs, full }) =>
    runAnswer(await awaitedRun(context, id, waitMs), { cached: false, full }),
});
