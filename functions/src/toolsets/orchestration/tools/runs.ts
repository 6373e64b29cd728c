import { z } from 'zod';
import { shownCost } from '../../../graph/rules/graphNode.ts';
import { reading, writing } from '../../../mcp/tool.ts';
import { isEnded, type Run } from '../rules/runs/run.ts';
import { RUN_STATUSES } from '../rules/runs/runDocument.ts';
import { defineTool, runId, runShape } from './orchestrationResponses.ts';
import { awaitedRun, MAX_WAIT_MS, runResponse, runText } from './runResponses.ts';

export const getRun = defineTool({
  name: 'get_run',
  title: 'Get a run',
  view: 'run',
  description: "Returns a run's state, steps, attempts and cost; waits up to waitMs for it to end.",
  input: z.strictObject({
    runId,
    waitMs: z.number().int().min(0).max(MAX_WAIT_MS).default(0).describe('Milliseconds to wait'),
    full: z.boolean().default(false).describe('Complete outputs'),
  }),
  output: runShape,
  ...reading,
  returnsWhole: true,
  scope: 'owner',
  notifies: true,
  example: { runId: 'run-abcdefghijklmnopqrst' },
  text: runText,
  handler: async (context, { runId: id, waitMs, full }) =>
    runResponse(await awaitedRun(context, id, waitMs), false, full),
});

export const listRuns = defineTool({
  name: 'list_runs',
  title: 'List runs',
  description: 'Lists your workflow runs and their status, newest first.',
  input: z.strictObject({
    status: z.enum(RUN_STATUSES).optional().describe('Status'),
    limit: z.int().min(1).max(100).default(20).describe('Maximum'),
    cursor: runId.optional().describe('From nextCursor'),
  }),
  output: z.object({
    success: z.boolean(),
    runs: z.array(
      z.object({
        runId: z.string(),
        workflow: z.string(),
        prompt: z.string().describe('Start of the prompt'),
        status: z.enum(RUN_STATUSES),
        createdAt: z.iso.datetime(),
        endedAt: z.iso.datetime().optional(),
        running: z.array(z.string()).describe('Steps in progress'),
        stepsDone: z.number(),
        costUsd: z.number().optional().describe('Absent if unknown'),
        error: z.string().optional(),
      }),
    ),
    truncated: z.boolean().describe('Whether there is more; nextCursor continues'),
    nextCursor: z.string().optional(),
  }),
  ...reading,
  scope: 'owner',
  example: { limit: 10 },
  handler: async ({ services, principal }, { status, limit, cursor }) => {
    const { items, more, last } = await services.orchestration.runs.list(principal, status, limit, cursor);
    return {
      success: true,
      runs: items.map((run) => ({
        runId: run.id,
        workflow: run.workflow,
        prompt: run.title,
        status: run.status,
        createdAt: run.created_at,
        endedAt: run.ended_at,
        running: run.ended_at ? [] : run.current,
        stepsDone: run.steps_settled,
        costUsd: shownCost(run.spent),
        error: run.failure?.message,
      })),
      truncated: more,
      ...(last && { nextCursor: last.id }),
    };
  },
});

export const cancelRun = defineTool({
  name: 'cancel_run',
  title: 'Cancel a run',
  description: 'Cancels a run: no new steps start; finished steps and costs stay.',
  details: "Aborts model requests in progress and cancels the run's tasks for live agents.",
  input: z.strictObject({ runId }),
  output: z.object({ success: z.boolean(), runId: z.string(), status: z.enum(RUN_STATUSES), message: z.string() }),
  ...writing('worker', { destructiveHint: true, idempotentHint: true }),
  scope: 'owner',
  example: { runId: 'run-abcdefghijklmnopqrst' },
  response: (run: Run) => ({
    success: true,
    runId: run.id,
    status: run.status,
    message: isEnded(run)
      ? 'The run is cancelled. Finished steps are kept.'
      : 'The run is being cancelled. Its model requests are aborted; finished steps are kept.',
  }),
  handler: ({ services, principal, recordResponse }, { runId: id }) =>
    services.orchestration.runs.cancel(principal, id, recordResponse),
});
