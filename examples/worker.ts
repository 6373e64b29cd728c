/**
 * A worker that claims and completes tasks. It needs only Node 22.
 *
 *     MUSTER_URL=https://<host>/mcp MUSTER_TOKEN=<credential> node --experimental-strip-types worker.ts <agent id>
 */
const url = new URL(process.env['MUSTER_URL'] ?? '');
url.pathname += '/rpc';
const headers = { Authorization: `Bearer ${process.env['MUSTER_TOKEN']}`, 'Content-Type': 'application/json' };

interface Task {
  readonly id: string;
  readonly description: string;
  readonly claim_epoch: number;
}

/** Calls a tool by JSON-RPC and returns its result. */
async function call<Result>(tool: string, params: object): Promise<Result> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: `coordination.${tool}`, params });
  const { result, error } = await (await fetch(url, { method: 'POST', headers, body })).json();
  if (error) throw new Error(`${tool}: ${error.message}`);
  return result;
}

/** Replace this with your own work. This example counts the words of the task. */
const work = ({ description }: Task): string => `${description.split(/\s+/).length} words`;

const wish = { agent_id: process.argv[2], role: 'worker' };
const { agent } = await call<{ agent: { id: string } }>('register_agent', wish);
for (;;) {
  const { task } = await call<{ task?: Task }>('claim_task', { agent_id: agent.id, start: true, wait_seconds: 10 });
  if (!task) break;
  const mine = { agent_id: agent.id, task_id: task.id, claim_epoch: task.claim_epoch };
  await call('complete_task', { ...mine, output: work(task) });
  console.log(`${task.id}: done`);
}
