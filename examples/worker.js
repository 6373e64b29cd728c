// @ts-check
/**
 * A worker that claims and completes tasks. It needs only Node 20.
 *
 *     MUSTER_URL=https://<host>/mcp MUSTER_TOKEN=<credential> node worker.js <agent id>
 *
 * @typedef {{ id: string, description: string, claim_epoch: number }} Task
 */
const url = new URL(process.env['MUSTER_URL'] ?? '');
url.pathname += '/rpc';
const headers = { Authorization: `Bearer ${process.env['MUSTER_TOKEN']}`, 'Content-Type': 'application/json' };

/** Reasons for which there is no task now, but may be one later. */
const WAITS = ['all_blocked', 'retry_later', 'taken'];

/** Calls a tool by JSON-RPC and returns its result. @param {string} tool @param {object} params */
async function call(tool, params) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: `coordination.${tool}`, params });
  const { result, error } = await (await fetch(url, { method: 'POST', headers, body })).json();
  if (error) throw new Error(`${tool}: ${error.message}`);
  return result;
}

/** Replace this with your own work. This example counts the words of the task. @param {Task} task */
const work = ({ description }) => `${description.split(/\s+/).length} words`;

const { agent } = await call('register_agent', { agent_id: process.argv[2], role: 'worker' });
for (;;) {
  const claim = await call('claim_task', { agent_id: agent.id, start: true, wait_seconds: 10 });
  /** @type {Task | undefined} */
  const task = claim.task;
  if (task) {
    const mine = { agent_id: agent.id, task_id: task.id, claim_epoch: task.claim_epoch };
    await call('complete_task', { ...mine, output: work(task) });
    console.log(`${task.id}: done`);
  } else if (!WAITS.includes(claim.reason)) {
    console.log(claim.explanation);
    break;
  }
}
