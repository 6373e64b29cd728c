/** Reads the status of a workspace as one person sees it. */
import { z } from 'zod';
import type { Call, Hub } from '../rpc.ts';

/** Maximum number of listed tasks in each status, and of listed questions. */
const SHOWN = 10;

const status = z.object({
  goal: z.string(),
  tasks: z.object({
    available: z.number(),
    claimed: z.number(),
    in_progress: z.number(),
    done: z.number(),
    failed: z.number(),
  }),
  total_tasks: z.number(),
  progress_percent: z.number(),
});

const tasks = z.object({
  tasks: z.array(
    z.object({
      id: z.string(),
      description: z.string(),
      status: z.string(),
      blocked: z.boolean().optional(),
      claimed_by: z.string().optional(),
      claimed_at: z.string().optional(),
      stuck: z.string().optional(),
      verifying: z.object({ step: z.string() }).optional(),
    }),
  ),
});

const requests = z.object({
  requests: z.array(z.object({ request_id: z.string(), question: z.string(), created_at: z.string() })),
});

export type Snapshot = Awaited<ReturnType<typeof takeSnapshot>>;

const list = (status_filter: string): Call => ({
  method: 'coordination.get_all_tasks',
  params: { status_filter, limit: SHOWN },
});

/** Returns a workspace's status with one request. @param end aborts the request @throws Mistake if a call fails */
export async function takeSnapshot(hub: Hub, end?: AbortSignal) {
  const calls = [
    { method: 'coordination.get_status', params: {} },
    list('claimed'),
    list('in_progress'),
    list('available'),
    { method: 'inbox.list', params: { state: 'open', limit: SHOWN } },
  ];
  const [systemStatus, claimed, started, available, asked] = await hub.call(calls, end);
  const { goal, tasks: counts, total_tasks: total, progress_percent: percent } = status.parse(systemStatus);
  const held = [...tasks.parse(started).tasks, ...tasks.parse(claimed).tasks];
  return {
    goal,
    progress: { percent, total, ...counts },
    doing: held.map(({ id, description, status, claimed_by: agent, claimed_at: since, verifying }) => ({
      agent,
      task: id,
      description,
      status: verifying === undefined ? status : 'verifying',
      since,
    })),
    waiting: tasks
      .parse(available)
      .tasks.map(({ id, description, blocked = false, stuck }) => ({ task: id, description, blocked, stuck })),
    questions: requests
      .parse(asked)
      .requests.map(({ request_id: id, question, created_at: at }) => ({ id, question, at })),
  };
}
