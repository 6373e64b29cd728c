import { z } from 'zod';
import { RUN_STATUSES } from '../rules/runs/run.ts';
import { defineTool, runId } from './orchestrationAnswers.ts';

export const listRuns = defineTool({
  name: 'list_runs',
  title: 'List runs',
  description: 'Lists your runs, newest first.',
  input: z.strictObject({
    status: z.enum(RUN_STATUSES).optional().describe('Of this status'),
    limit: z.int().min(1).max(100).default(20).describe('How many'),
    cursor: runId.optional().describe('nextCursor of the page before'),
  }),
  output: z.object({
    success: z.boolean(),
    runs: z.array(
      z.object({
        runId: z.string(),
        workflow: z.string(),
        prompt: z.string().describe('The beginning of it'),
        status: z.enum(RUN_STATUSES),
        createdAt: z.iso.datetime(),
        endedAt: z.iso.datetime().optional(),
        running: z.array(z.string()).describe('The steps that are under way'),
        stepsDone: z.number(),
        costUsd: z.number(),
        error: z.string().optional(),
      }),
    ),
    truncated: z.boolean().describe('Whether there is more; nextCursor goes on'),
    nextCursor: z.string().optional(),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  role: 'viewer',
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
        createdAt: run.created_at.toISOString(),
        endedAt: run.ended_at?.toISOString(),
        running: run.ended_at ? [] : [...run.current],
        stepsDone: run.steps_settled,
        costUsd: run.spent.cost_usd,
        error: run.failure?.message,
      })),
      truncated: more,
      ...(last && { nextCursor: last.id }),
    };
  },
});
