import { z } from 'zod';
import { defineTool, runId, runShape } from './orchestrationAnswers.ts';
import { awaitedRun, LONGEST_WAIT_MS, runAnswer, runText } from './runAnswers.ts';

export const getRun = defineTool({
  name: 'get_run',
  title: 'Get a run',
  view: 'run',
  description: 'Tells what a run has come to, with steps, attempts and cost; waits up to waitMs for its end.',
  input: z.strictObject({
    runId,
    waitMs: z.number().int().min(0).max(LONGEST_WAIT_MS).default(0).describe('Milliseconds to wait'),
    full: z.boolean().default(false).describe('Every output whole'),
  }),
  output: runShape,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  answersWhole: true,
  role: 'viewer',
  scope: 'owner',
  notifies: true,
  example: { runId: 'run-abcdefghijklmnopqrst' },
  text: runText,
  handler: async (context, { runId: id, waitMs, full }) =>
    runAnswer(await awaitedRun(context, id, waitMs), false, full),
});
