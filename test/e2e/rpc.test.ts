/** `/mcp/rpc` of the deployed functions, for programs without an MCP client. */
import assert from 'node:assert/strict';
import { assertCivil } from './support/civility.ts';
import { isRecord } from './support/clients.ts';
import { endpointUrl, newWorkspace, tokenOf } from './support/endpoint.ts';
import { type HttpResponse, post, send } from './support/http.ts';

type Fields = Readonly<Record<string, unknown>>;

describe('the endpoint /mcp/rpc', () => {
  let leader: string;
  let worker: string;

  before(async () => {
    leader = await tokenOf('leader');
    worker = await tokenOf('worker1');
  });

  const requestOf = (method: string, params: Fields, id: unknown = '1') => ({ jsonrpc: '2.0', id, method, params });

  async function rpc(url: string, token: string, body: unknown): Promise<unknown> {
    const { status, json, text } = await post(url, token, JSON.stringify(body));
    assert.equal(status, 200, text);
    return json;
  }

  async function resultOf(url: string, token: string, method: string, params: Fields): Promise<Fields> {
    const answer = await rpc(url, token, requestOf(method, params));
    assert.ok(isRecord(answer) && isRecord(answer['result']), JSON.stringify(answer));
    assert.deepEqual(Object.keys(answer).sort(), ['id', 'jsonrpc', 'result']);
    return answer['result'];
  }

  it('accepts all calls of a job: set a goal, create a task, claim it and complete it', async () => {
    const url = endpointUrl('/rpc', { workspace: newWorkspace('rpc') });
    await resultOf(url, leader, 'coordination.init_coordination', { goal: 'Build', master_plan: 'Step by step' });
    const { task } = await resultOf(url, leader, 'coordination.create_task', { description: 'Do it' });
    assert.ok(isRecord(task));
    await resultOf(url, worker, 'coordination.register_agent', { agent_id: 'worker1', role: 'worker' });
    const claimed = await resultOf(url, worker, 'coordination.claim_task', { agent_id: 'worker1' });
    assert.ok(isRecord(claimed['task']));
    assert.equal(claimed['task']['id'], task['id']);
    const settled = { agent_id: 'worker1', task_id: task['id'] };
    await resultOf(url, worker, 'coordination.start_task', settled);
    await resultOf(url, worker, 'coordination.complete_task', { ...settled, output: 'Done' });
    const status = await resultOf(url, leader, 'coordination_get_status', {});
    assert.equal(status['progress_percent'], 100);
  });

  it('returns JSON-RPC errors for malformed bodies, although the platform parses them first', async () => {
    const url = endpointUrl('/rpc');
    for (const [body, code] of [
      ['', -32700],
      ['{', -32700],
      ['\u0000', -32700],
      [Buffer.from([0xff, 0xfe]), -32700],
      ['[]', -32600],
      ['5', -32600],
      ['['.repeat(100_000) + ']'.repeat(100_000), -32600],
    ] as const) {
      const answer = await post(url, leader, body);
      assert.equal(answer.status, 200, String(body).slice(0, 20));
      assertCivil(answer, String(body));
      assert.equal(codeOf(answer), code, String(body).slice(0, 20));
    }
  });

  it('returns an HTTP error if it rejects a request before reading its JSON-RPC message', async () => {
    const url = endpointUrl('/rpc');
    const body = JSON.stringify(requestOf('coordination.get_status', {}));
    const anonymous = await send(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
    assert.equal(anonymous.status, 401);
    assert.equal((await post(url, `${leader}x`, body)).status, 401);
    assert.equal((await post(url, leader, body, { Origin: 'https://evil.example' })).status, 403);
    assert.equal((await post(url, leader, body, { 'Content-Type': 'text/plain' })).status, 415);
    assert.equal((await post(url, leader, body.padEnd(4 * 1024 * 1024 + 1))).status, 413);
    const got = await send(url, { headers: { Authorization: `Bearer ${leader}` } });
    assert.equal(got.status, 405);
    assert.equal(got.headers.get('allow'), 'POST');
  });
});

function codeOf({ json }: HttpResponse): unknown {
  return isRecord(json) && isRecord(json['error']) ? json['error']['code'] : undefined;
}
