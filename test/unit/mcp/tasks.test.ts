/** MCP tasks and traces at an endpoint whose jobs are in memory. The conformance suite tests the format. */
import assert from 'node:assert/strict';
import { currentTraces } from '../../../functions/src/kernel/trace.ts';
import { memoryPorts, type RunningEndpoint, serveEndpoint } from '../../support/mcp-endpoint.ts';
import { type Fields, resultOf, send } from '../../support/modernCalls.ts';
import { taskToolset } from '../../support/task-toolset.ts';

const SLOW = { name: 'slow_compute', arguments: { seconds: 3600 } };
const UNSUPPORTED = {
  code: -32021,
  data: { requiredCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } },
};

describe('MCP tasks', () => {
  let endpoint: RunningEndpoint;
  let charged = 0;
  const logged: unknown[] = [];

  before(async () => {
    const { toolset, questions } = taskToolset();
    const take = async () => {
      charged += 1;
    };
    const ports = memoryPorts();
    const log = { ...ports.log, info: () => void logged.push(currentTraces.getStore()) };
    endpoint = await serveEndpoint({ ...ports, toolsets: [toolset], questions, limits: { take }, log });
  });
  after(() => endpoint?.close());

  const ask = (method: string, params: Fields, options = {}) =>
    send(`${endpoint.url}/mcp/test`, method, params, options);
  const start = async () => String(resultOf(await ask('tools/call', SLOW))['taskId']);

  it('are used only for clients that declare the extension in the request', async () => {
    const { resultType } = resultOf(await ask('tools/call', SLOW, { capabilities: {} }));
    assert.equal(resultType, 'complete');
    const taskId = await start();
    for (const [method, params] of [
      ['tools/call', { name: 'failing_job', arguments: {} }],
      ['tasks/get', { taskId }],
      ['tasks/update', { taskId, inputResponses: {} }],
      ['tasks/cancel', { taskId }],
    ] as const) {
      const { code, data } = Object((await ask(method, params, { capabilities: {} }))['error']);
      assert.deepEqual({ code, data }, UNSUPPORTED, method);
    }
    assert.equal(resultOf(await ask('tasks/get', { taskId }))['status'], 'working');
  });

  it('count towards the rate limit once per poll', async () => {
    const taskId = await start();
    charged = 0;
    await ask('tasks/get', { taskId });
    await ask('tasks/get', { taskId: 'job-none' });
    assert.equal(charged, 2);
  });

  for (const taskId of ['job-none', '', '__proto__', 'x'.repeat(5000), 'job-1\u0000'])
    it(`do not exist with the id ${JSON.stringify(taskId.slice(0, 20))}`, async () => {
      for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
        const { code, message } = Object((await ask(method, { taskId }, { headers: { 'Mcp-Name': 'job' } }))['error']);
        assert.match(`${code} ${message}`, /^-32(602|020) /);
      }
    });

  it('are unknown methods in the older revisions', async () => {
    const headers = { Authorization: 'Bearer leader-key', 'Content-Type': 'application/json' };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { taskId: 'job-1' } });
    const response = await fetch(`${endpoint.url}/mcp/test`, { method: 'POST', headers, body });
    assert.equal(Object(await response.json()).error.code, -32601);
  });

  it('are logged with the traces of the HTTP request and of the client, if these are valid', async () => {
    const [http, client] = ['1', '2'].map((digit) => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`);
    for (const [header, traceparent, expected] of [
      [http, client, { http, client }],
      [http, 'x', { http, client: undefined }],
      ['x', client, { http: undefined, client }],
      ['x', 7, undefined],
    ] as const) {
      logged.length = 0;
      await ask('tools/call', SLOW, { meta: { traceparent }, headers: { traceparent: String(header) } });
      assert.deepEqual(logged, [expected]);
    }
  });

  it('show no internals if the work breaks', async () => {
    const { taskId } = resultOf(await ask('tools/call', { name: 'protocol_error_job', arguments: {} }));
    let state: Fields = {};
    while (state['status'] !== 'failed') state = resultOf(await ask('tasks/get', { taskId }));
    assert.match(String(Object(state['error']).message), /^Internal error\. Report request id/);
  });
});
