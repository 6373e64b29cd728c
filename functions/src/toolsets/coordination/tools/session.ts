/** Tools for the session: its goal, plan and status. Source: the coordination specification. */
import { z } from 'zod';
import { MusterError } from '../../../kernel/errors.ts';
import { columnLines, terminalLines } from '../../../kernel/text.ts';
import { type Given, guidance, reading, writing } from '../../../mcp/tool.ts';
import type { CoordinationStatus, InitializedSession } from '../rules/coordination.ts';
import type { Session } from '../rules/session.ts';
import { stuckBy, stuckReason } from '../rules/stuck.ts';
import { coordinationStatus, isHeld, type Task } from '../rules/task.ts';
import { archivedResponse, archivedShape, defineTool, taskShape, text } from './coordinationResponses.ts';
import { verifyingResponse } from './proofResponses.ts';

export const initCoordination = defineTool({
  name: 'init_coordination',
  title: 'Start a session',
  description:
    "Starts the workspace's session with a goal and plan. The same goal keeps the session; a new goal archives it and its tasks (reopen undoes this).",
  input: z.strictObject({
    goal: text('Overall project goal', 5000),
    master_plan: text('High-level plan', 100_000).optional(),
  }),
  output: z.object({
    success: z.boolean(),
    goal: z.string(),
    created_at: z.string(),
    archived_session: z
      .object(archivedShape)
      .optional()
      .describe('The archived session. coordination.reopen restores it.'),
  }),
  ...writing('leader', { destructiveHint: true, idempotentHint: true }),
  example: {
    goal: 'Build a REST API for user management',
    master_plan: '1. Design data models\n2. Implement endpoints\n3. Add authentication',
  },
  response: ({ session, archived }: InitializedSession) => ({
    success: true,
    goal: session.goal,
    created_at: session.created_at,
    archived_session: archived && archivedResponse(archived),
  }),
  handler: ({ services, workspace, principal, recordResponse }, { goal, master_plan }) =>
    services.coordination.initialize(workspace, { goal, masterPlan: master_plan }, recordResponse, principal),
});

/** Returns the goal and the plan. @throws MusterError NOT_FOUND if the workspace has no goal */
export function masterPlanResponse(session: Session | undefined, workspace: string) {
  if (session === undefined || session.goal === '')
    throw new MusterError('NOT_FOUND', `Workspace "${workspace}" has no goal yet.`, {
      suggestion: 'Ask a leader to set one with coordination.init_coordination.',
    });
  return { goal: session.goal, master_plan: session.master_plan, created_at: session.created_at };
}

export const getMasterPlan = defineTool({
  name: 'get_master_plan',
  title: 'Get the master plan',
  description: 'Returns the goal and master plan.',
  input: z.strictObject({}),
  output: z.object({ goal: z.string(), master_plan: z.string(), created_at: z.string() }),
  ...reading,
  example: {},
  handler: async ({ services, workspace }) =>
    masterPlanResponse(await services.coordination.session(workspace), workspace),
});

const { status, claimed_by } = taskShape.shape;

const statusShape = z.object({
  goal: z.string(),
  tasks: z.object({
    available: z.number(),
    claimed: z.number(),
    in_progress: z.number(),
    done: z.number(),
    failed: z.number(),
  }),
  blocked_tasks: z.number().describe('Number of available tasks that wait for a dependency or a retry.'),
  total_tasks: z.number(),
  progress_percent: z.number(),
  agents: z.object({ total: z.number(), leaders: z.number(), workers: z.number(), active: z.number() }),
  discoveries_count: z.number(),
  last_activity: z.string().nullable(),
  late: z
    .object({
      count: z.number(),
      tasks: z.array(z.object({ id: z.string(), deadline: z.string().optional(), status, claimed_by })),
    })
    .optional()
    .describe('Open tasks past their deadline. `tasks` contains the 10 with the earliest deadlines.'),
  verifying: z
    .object({ count: z.number(), tasks: z.array(z.object({ id: z.string(), step: z.string(), waits: z.string() })) })
    .optional()
    .describe('Tasks whose result is being verified. `tasks` contains the 5 that must be proven first.'),
  stuck: z
    .object({
      count: z.number(),
      tasks: z.array(
        z.object({
          id: z.string(),
          reason: guidance().optional(),
          because_of: z.string().optional().describe('Task that failed or was cancelled.'),
        }),
      ),
    })
    .optional()
    .describe(
      'Tasks that can never start. `tasks` contains the 5 oldest. For all: coordination.get_all_tasks with status_filter stuck.',
    ),
});

/** Returns the response about the status. Progress is rounded down, so 100 means that every task is done. */
export function statusResponse(status: CoordinationStatus): Given<z.output<typeof statusShape>> {
  const { session, counters, blocked, agents, late, stuck, verifying } = status;
  const { counts, lastActivity } = counters;
  const { total, leaders, active } = agents;
  const tasks = {
    available: counts.available,
    claimed: counts.claimed,
    in_progress: counts.in_progress + counts.waiting,
    done: counts.done,
    failed: counts.failed + counts.cancelled,
  };
  const all = Object.values(tasks).reduce((sum, count) => sum + count);
  const stuckTasks = stuck.first.map((task) => ({ id: task.id, reason: stuckReason(task), because_of: stuckBy(task) }));
  return {
    goal: session?.goal ?? '',
    tasks,
    // Between the reads of the two counts, a task may have been claimed.
    blocked_tasks: Math.min(blocked, tasks.available),
    total_tasks: all,
    progress_percent: all === 0 ? 0 : Math.floor((tasks.done * 100) / all),
    agents: { total, leaders, workers: total - leaders, active },
    discoveries_count: counts.discoveries,
    last_activity: lastActivity ?? session?.created_at ?? null,
    late: late.count > 0 ? { count: late.count, tasks: late.first.map(lateResponse) } : undefined,
    verifying: verifying.count > 0 ? { count: verifying.count, tasks: verifying.first.map(verifyingTask) } : undefined,
    stuck: stuck.count > 0 ? { count: stuck.count, tasks: stuckTasks } : undefined,
  };
}

function verifyingTask(task: Task) {
  const { step = '', waits = '' } = verifyingResponse(task) ?? {};
  return { id: task.id, step, waits };
}

function lateResponse({ id, deadline, status, claim }: Task) {
  const claimed_by = isHeld(status) ? claim?.claimed_by : undefined;
  return { id, deadline, status: coordinationStatus(status), claimed_by };
}

export const getStatus = defineTool({
  name: 'get_status',
  title: 'Coordination status',
  view: 'goal',
  description: "Returns the session's goal, progress, agents and task counts.",
  input: z.strictObject({}),
  output: statusShape,
  ...reading,
  example: {},
  text: statusText,
  handler: async ({ services, workspace }) => statusResponse(await services.coordination.status(workspace)),
});

export function statusText(answer: z.output<typeof statusShape>): string {
  const { goal, tasks, total_tasks, progress_percent, blocked_tasks, agents, late, stuck, verifying } = answer;
  const blocked = blocked_tasks > 0 ? ` (${blocked_tasks} blocked)` : '';
  const lines = [
    `Goal: ${goal || 'none'}`,
    `Tasks: ${tasks.done} of ${total_tasks} done (${progress_percent} %), ${tasks.in_progress} in progress, ${tasks.claimed} claimed, ${tasks.available} available${blocked}, ${tasks.failed} failed`,
    `Agents: ${agents.active} of ${agents.total} active (${agents.leaders} leaders, ${agents.workers} workers)`,
    `Findings: ${answer.discoveries_count}`,
    `Last activity: ${answer.last_activity ?? 'none'}`,
  ];
  if (verifying !== undefined) {
    lines.push(`Being verified: ${verifying.count}${namedCount(verifying)}`);
    lines.push(...columnLines(verifying.tasks.map(({ id, waits }) => [id, waits])));
  }
  if (stuck !== undefined) {
    lines.push(`Can never start: ${stuck.count}${namedCount(stuck)}`);
    lines.push(...columnLines(stuck.tasks.map(({ id, reason = '' }) => [id, reason])));
  }
  if (late !== undefined) {
    const rows = late.tasks.map(({ id, status, deadline = '', claimed_by }) => {
      return [id, status, `due ${deadline}`, claimed_by === undefined ? '' : `held by ${claimed_by}`];
    });
    lines.push(`Late: ${late.count}${namedCount(late)}`, ...columnLines(rows));
  }
  return terminalLines(lines);
}

function namedCount({ count, tasks }: { readonly count: number; readonly tasks: readonly unknown[] }): string {
  return count > tasks.length ? `, ${tasks.length} shown` : '';
}
