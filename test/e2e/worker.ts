/** A worker process that claims and completes tasks until all tasks are done. Not a test file. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { type Connection, connect } from './support/clients.ts';
import type { Report, WorkerOrders } from './support/workers.ts';

/** Pause between two attempts to claim. It is long because after each pause, six workers make two calls each. */
const BETWEEN_LOOKS_MS = 400;

const claimAnswer = z.object({
  success: z.boolean(),
  task: z.object({ id: z.string(), claim_epoch: z.number(), description: z.string() }).optional(),
});
type Task = NonNullable<z.output<typeof claimAnswer>['task']>;
const status = z.object({ tasks: z.object({ done: z.number() }), total_tasks: z.number() });
const orders: WorkerOrders = JSON.parse(process.argv[2] ?? '{}');
const { agent, era, leaseSeconds, stopAtClaim } = orders;
const client = await connect(era, orders.url, agent.token, fetchAgain);
await call('register_agent', { agent_id: agent.id, role: 'worker' });
await work(client);
await client.close();
process.disconnect?.();

async function work(client: Connection): Promise<void> {
  for (let claims = 1; ; ) {
    const { task } = claimAnswer.parse(await call('claim_task', { agent_id: agent.id, lease_seconds: leaseSeconds }));
    if (task === undefined) {
      const { tasks, total_tasks } = status.parse((await client.call('get_status')).structured);
      if (tasks.done === total_tasks) return;
      await delay(BETWEEN_LOOKS_MS);
      continue;
    }
    tell({ kind: 'claimed', task: task.id, epoch: task.claim_epoch });
    await call('start_task', { agent_id: agent.id, task_id: task.id });
    if (claims === stopAtClaim) return sitOn(task);
    await finish(task);
    claims++;
  }
}

async function finish({ id, claim_epoch, description }: Task): Promise<void> {
  const output = `${description} by ${agent.id}`;
  const answer = await call('complete_task', { agent_id: agent.id, task_id: id, claim_epoch, output });
  if (answer['success'] === true) tell({ kind: 'completed', task: id, epoch: claim_epoch });
}

async function sitOn({ id, claim_epoch }: Task): Promise<never> {
  tell({ kind: 'stopped', task: id, epoch: claim_epoch });
  for (;;) await delay(60_000);
}

async function call(tool: string, args: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>> {
  const { isError, text, structured } = await client.call(tool, { ...args, idempotency_key: randomUUID() });
  assert.equal(isError, false, `${agent.id}: ${tool}: ${text}`);
  return structured;
}

/** Sends a request, and repeats it once if it fails, because the server may close an idle connection. */
async function fetchAgain(...request: Parameters<typeof fetch>): Promise<Response> {
  try {
    return await fetch(...request);
  } catch {
    return fetch(...request);
  }
}

function tell(report: Report): void {
  process.send?.(report);
}
