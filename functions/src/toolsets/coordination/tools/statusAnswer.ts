import { z } from 'zod';
import type { CoordinationStatus } from '../rules/coordination.ts';
import { COORDINATION_STATUSES, coordinationStatus, isHeld, type Task } from '../rules/task.ts';

export const statusShape = z.object({
  goal: z.string(),
  tasks: z.object({
    available: z.number(),
    claimed: z.number(),
    in_progress: z.number(),
    done: z.number(),
    failed: z.number(),
  }),
  blocked_tasks: z
    .number()
    .describe('How many of the available tasks wait for others, or for a retry, and cannot be claimed yet.'),
  total_tasks: z.number(),
  progress_percent: z.number(),
  agents: z.object({ total: z.number(), leaders: z.number(), workers: z.number(), active: z.number() }),
  discoveries_count: z.number(),
  last_activity: z.string().nullable(),
  late: z
    .object({
      count: z.number(),
      tasks: z.array(
        z.object({
          id: z.string(),
          deadline: z.string().optional(),
          status: z.enum(COORDINATION_STATUSES),
          claimed_by: z.string().optional(),
        }),
      ),
    })
    .optional()
    .describe('Tasks that are not closed and past their deadline; the first 10 by deadline are named.'),
});

/** Progress is the floor of done over all: 100 means that everything is done. */
export function statusAnswer({
  session,
  counters,
  blocked,
  members,
  late,
}: CoordinationStatus): z.output<typeof statusShape> {
  const { counts, lastActivity } = counters;
  const tasks = {
    available: counts.available,
    claimed: counts.claimed,
    in_progress: counts.in_progress + counts.waiting,
    done: counts.done,
    failed: counts.failed + counts.cancelled,
  };
  const total = tasks.available + tasks.claimed + tasks.in_progress + tasks.done + tasks.failed;
  return {
    goal: session?.goal ?? '',
    tasks,
    // A task may have been claimed since the others were counted.
    blocked_tasks: Math.min(blocked, tasks.available),
    total_tasks: total,
    progress_percent: total === 0 ? 0 : Math.floor((tasks.done * 100) / total),
    agents: {
      total: members.total,
      leaders: members.leaders,
      workers: members.total - members.leaders,
      active: members.active,
    },
    discoveries_count: counts.discoveries,
    last_activity: (lastActivity ?? session?.createdAt)?.toISOString() ?? null,
    ...(late.count > 0 && { late: { count: late.count, tasks: late.first.map(lateAnswer) } }),
  };
}

function lateAnswer({ id, deadline, status, claim }: Task) {
  return {
    id,
    ...(deadline && { deadline: deadline.toISOString() }),
    status: coordinationStatus(status),
    ...(claim && isHeld(status) && { claimed_by: claim.agentId }),
  };
}
