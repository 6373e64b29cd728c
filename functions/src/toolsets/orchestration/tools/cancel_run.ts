import { z } from 'zod';
import { isEnded, RUN_STATUSES, type Run } from '../rules/runs/run.ts';
import { defineTool, runId } from './orchestrationAnswers.ts';

export const cancelRun = defineTool({
  name: 'cancel_run',
  title: 'Cancel a run',
  description: 'Ends a run. What is done stays, with its cost; nothing more begins.',
  details:
    'Requests under way are closed at the vendor, and a task that a live agent has for it is cancelled.',
  input: z.strictObject({ runId }),
  output: z.object({
    success: z.boolean(),
    runId: z.string(),
    status: z.enum(RUN_STATUSES),
    message: z.string(),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  loosens: [],
  role: 'worker',
  scope: 'owner',
  example: { runId: 'run-abcdefghijklmnopqrst' },
  answer: (run: Run) => ({
    success: true,
    runId: run.id,
    status: run.status,
    message: isEnded(run)
      ? 'The run is cancelled. What had been done stays.'
      : 'The run is being cancelled: its requests are closed, and what had been done stays.',
  }),
  handler: ({ services, principal, recordAnswer }, { runId: id }) =>
    services.orchestration.runs.cancel(principal, id, recordAnswer),
});
