/** The MCP endpoint over HTTP, with databases and other ports in memory. */
import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import http from 'node:http';
import fc from 'fast-check';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import { counterToolset, systemToolset } from '../../support/fixture-toolset.ts';
import {
  JSON_BY_LEADER,
  LEADER,
  memoryPorts,
  type RunningEndpoint,
  serveEndpoint,
} from '../../support/mcp-endpoint.ts';
import { inRuns } from '../../support/properties.ts';

const HEADERS = { ...JSON_BY_LEADER, Accept: 'application/json, text/event-stream' };

type Json = Record<string, unknown>;

describe('MCP endpoint', () => {
  const ports = memoryPorts();
  let endpoint: RunningEndpoint;

  before(async () => {
    const toolsets = [systemToolset, counterToolset(ports.settled)];
    ports.principals.set('confined', { ...LEADER, toolsets: ['system'] } satisfies Principal);
    endpoint = await serveEndpoint({ ...ports, toolsets });
  });

  after(() => endpoint.close());

  const send = (path: string, init: RequestInit = {}) =>
    fetch(endpoint.url + path, { method: 'POST', ...init, headers: { ...HEADERS, ...init.headers } });

  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    send(path, { body: JSON.stringify(body), headers });

  async function rpc(path: string, method: string, params: object = {}, headers = {}): Promise<Json> {
    const response = await post(path, { jsonrpc: '2.0', id: 7, method, params }, headers);
    assert.equal(response.status, 200);
    return response.json() as Promise<Json>;
  }

  async function call(path: string, name: string, args: object = {}): Promise<Json> {
    return (await rpc(path, 'tools/call', { name, arguments: args }))['result'] as Json;
  }

  async function toolNames(path: string, headers = {}): Promise<string[]> {
    const { tools } = (await rpc(path, 'tools/list', {}, headers))['result'] as { tools: { name: string }[] };
    return tools.map(({ name }) => name);
  }

  it('lists the tools that the path, the query and the header select', async () => {
    const own = ['system_echo', 'coordination_increment'];
    assert.deepEqual(await toolNames('/mcp'), own);
    assert.deepEqual(await toolNames('/'), own);
    const all = ['system_echo', 'coordination_increment', 'coordination_fail'];
    assert.deepEqual(await toolNames('/mcp?toolsets=all'), all);
    assert.deepEqual(await toolNames('/mcp/coordination'), ['increment', 'fail']);
    assert.deepEqual(await toolNames('/mcp/network'), ['system_echo']);
    assert.deepEqual(await toolNames('/mcp?readonly=1'), ['system_echo']);
    assert.deepEqual(await toolNames('/mcp', { 'X-MCP-Toolsets': 'coordination' }), own.slice(1));
    assert.deepEqual(await toolNames('/mcp/coordination/readonly'), []);
  });

  it('accepts every form of a tool name that the documentation describes', async () => {
    for (const [path, name] of [
      ['/mcp', 'coordination_increment'],
      ['/mcp', 'coordination.increment'],
      ['/mcp/coordination', 'increment'],
      ['/mcp/coordination', 'coordination.increment'],
    ] as const)
      assert.equal((await call(path, name))['isError'], undefined, name);
    const unknown = await rpc('/mcp', 'tools/call', { name: 'increment' });
    const message = 'Unknown tool: increment. Did you mean coordination_increment?';
    assert.deepEqual(unknown['error'], { code: -32602, message });
    const written = await rpc('/mcp/readonly', 'tools/call', { name: 'coordination_increment' });
    assert.ok(written['error']);
  });

  it('lists only the toolsets to which a caller is restricted, and refuses calls to all others', async () => {
    const confined = { Authorization: 'Bearer confined' };
    assert.deepEqual(await toolNames('/mcp', confined), ['system_echo']);
    const params = { name: 'coordination_increment', arguments: {} };
    const { result } = await rpc('/mcp', 'tools/call', params, confined);
    assert.match(JSON.stringify(result), /does not include the toolset coordination/);
    assert.equal((await post('/mcp/coordination', {}, confined)).status, 403);
  });

  it('accepts a credential in X-Muster-Credential only if Authorization is missing', async () => {
    const own = { 'X-Muster-Credential': 'confined' };
    const names = async (headers: Readonly<Record<string, string>>) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
      const { Authorization: _, ...others } = HEADERS;
      const response = await fetch(`${endpoint.url}/mcp`, { method: 'POST', headers: { ...others, ...headers }, body });
      return response.ok ? (await response.text()).includes('coordination_increment') : response.status;
    };
    assert.equal(await names(own), false);
    assert.equal(await names({ ...own, Authorization: HEADERS.Authorization }), true);
    for (const value of ['', 'confined twice', `\${MUSTER_TOKEN}`])
      assert.equal(await names({ 'X-Muster-Credential': value }), 401, value);
  });

  it('creates few promises per request, because each promise costs processing time', async () => {
    const requests = 20;
    let promises = 0;
    const hook = createHook({ init: (_id, type) => void (type === 'PROMISE' && promises++) });
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
    const ask = (then: () => void) =>
      http
        .request(`${endpoint.url}/mcp`, { method: 'POST', headers: HEADERS }, (answer) =>
          answer.resume().on('end', then),
        )
        .end(body);
    await new Promise<void>((resolve) => ask(resolve));
    hook.enable();
    await new Promise<void>((resolve) => {
      const next = (left: number) => void (left === 0 ? resolve() : ask(() => next(left - 1)));
      next(requests);
    });
    hook.disable();
    assert.ok(promises > 0 && promises / requests < 75, `${promises / requests} for each request`);
  });

  it('returns the first response again if a call has the same idempotency key', async () => {
    const first = await call('/mcp', 'coordination_increment', { by: 5, idempotency_key: 'k' });
    assert.deepEqual(await call('/mcp', 'coordination_increment', { by: 5, idempotency_key: 'k' }), first);
    const other = await call('/mcp', 'coordination_increment', { by: 6, idempotency_key: 'k' });
    assert.match(JSON.stringify(other), /used with other arguments/);
  });

  it('returns the contents of resources', async () => {
    const { result } = await rpc('/mcp', 'resources/read', { uri: 'coordination://status' });
    assert.match(JSON.stringify(result), /"mimeType":"application\/json"/);
    const missing = await rpc('/mcp', 'resources/read', { uri: 'coordination://nope' });
    assert.equal((missing['error'] as Json)['code'], -32602);
    assert.deepEqual((await rpc('/mcp', 'resources/templates/list'))['result'], { resourceTemplates: [] });
    assert.equal(((await rpc('/mcp/system', 'resources/list'))['error'] as Json)['code'], -32601);
  });

  it('takes the workspace of a call from the URL, and its own base URL from the request', async () => {
    const { structuredContent } = await call('/mcp?workspace=alpha', 'system_echo', { text: 'a', data: 1 });
    assert.deepEqual(structuredContent, { text: 'a', workspace: 'alpha', baseUrl: `${endpoint.url}/mcp` });
    assert.equal((await post('/mcp?workspace=../x', {})).status, 400);
  });

  it('runs the batches of the 2025 revisions in order, within limits', async () => {
    const ping = (id: number) => ({ jsonrpc: '2.0', id, method: 'ping' });
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
    const answers = (await (await post('/mcp', [ping(1), cancelled, list, ping(3)])).json()) as Json[];
    const ids = answers.map((answer) => answer['id']);
    assert.deepEqual(ids, [1, 2, 3]);
    assert.match(JSON.stringify(answers[1]), /system_echo/);
    assert.equal((await post('/mcp', [cancelled])).status, 202);
    assert.equal(
      (
        await post(
          '/mcp',
          Array.from({ length: 51 }, (_, id) => ping(id)),
        )
      ).status,
      400,
    );
    assert.equal((await post('/mcp', [ping(1), ping(1)])).status, 400);
    assert.equal((await post('/mcp', [{ ...ping(1), method: 'initialize' }, ping(2)])).status, 400);
  });

  it('accepts notifications and responses, and returns an empty body', async () => {
    for (const message of [
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 1, result: {} },
    ]) {
      const response = await post('/mcp', message);
      assert.equal(response.status, 202);
      assert.equal(await response.text(), '');
    }
  });

  it('responds to CORS requests from allowed web pages only', async () => {
    const preflight = (origin: string) =>
      send('/mcp', {
        method: 'OPTIONS',
        headers: { Origin: origin, 'Access-Control-Request-Method': 'POST', Authorization: '' },
      });
    for (const origin of ['http://localhost:6274', 'https://console.example', 'http://[::1]']) {
      const response = await preflight(origin);
      assert.equal(response.status, 204, origin);
      assert.equal(response.headers.get('access-control-allow-origin'), origin);
      assert.match(response.headers.get('access-control-allow-headers') ?? '', /Mcp-Method/);
    }
    for (const origin of ['https://evil.example', 'null', 'http://localhost.evil.example', 'file://', 'x']) {
      assert.equal((await preflight(origin)).status, 403, origin);
      assert.equal((await post('/mcp', {}, { Origin: origin })).status, 403, origin);
    }
    assert.equal((await send('/mcp', { method: 'OPTIONS' })).status, 405);
  });

  it('logs requests that it refuses before a call, without their credential', async () => {
    ports.entries.length = 0;
    for (const init of [
      { headers: { Authorization: 'Bearer mk_stolen.hush' } },
      { method: 'PUT' },
      { headers: { Origin: 'https://hush.example' } },
    ])
      await send('/mcp', { body: 'hush', ...init });
    await send('/hush', { body: 'hush' });
    const rows = ports.entries.map(({ event, fields }) => [event, fields['status']]);
    const expected = [401, 405, 403, 404].map((status) => ['request_refused', status]);
    assert.deepEqual(rows, expected);
    for (const { fields } of ports.entries) {
      assert.deepEqual(Object.keys(fields), ['requestId', 'status', 'why']);
      assert.ok(!JSON.stringify(fields).includes('hush'));
    }
  });

  it('reports the delay before a retry to a caller that exceeds the rate limit', async () => {
    const limited = new MusterError('RATE_LIMITED', 'Too many calls.', {
      suggestion: 'Call again in 7 seconds.',
      retryAfter: 7,
    });
    const { take } = ports.limits;
    ports.limits.take = () => Promise.reject(limited);
    try {
      assert.match(JSON.stringify(await call('/mcp', 'coordination_increment')), /Call again in 7 seconds\./);
      const { content } = (await call('/mcp', 'system_echo')) as { content: { text: string }[] };
      assert.deepEqual(JSON.parse(content[0]?.text ?? '').error, {
        code: -32400,
        message: 'Too many calls.',
        data: { suggestion: 'Call again in 7 seconds.', retryAfter: 7 },
      });
      const list = await post('/mcp', { jsonrpc: '2.0', id: 7, method: 'tools/list' });
      assert.deepEqual([list.status, list.headers.get('retry-after')], [429, '7']);
      assert.match(await list.text(), /Too many calls\. Call again in 7 seconds\./);
    } finally {
      ports.limits.take = take;
    }
    assert.equal(ports.counted.at(-1)?.outcome, 'RATE_LIMITED');
  });

  it('does not reveal details in the response if one of its databases fails', async () => {
    const broken = memoryPorts();
    broken.authenticator.authenticate = () => Promise.reject(new Error('10.0.0.1 refused'));
    const other = await serveEndpoint({ ...broken, toolsets: [systemToolset] });
    const response = await fetch(other.url, { method: 'POST', headers: HEADERS, body: '{}' });
    assert.equal(response.status, 500);
    assert.match(await response.text(), /Internal error\. Report request id [0-9a-f-]{36} to the operator\./);
    await other.close();
  });

  describe('given hostile messages', () => {
    it('never crashes and never reveals internals', async () => {
      const value = fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' });
      const message = fc.record(
        {
          jsonrpc: fc.constantFrom('2.0', '1.0'),
          id: fc.oneof(fc.integer(), fc.string(), value),
          method: fc.oneof(
            fc.constantFrom('tools/call', 'tools/list', 'resources/read', 'initialize', 'server/discover'),
            fc.string(),
          ),
          params: fc.oneof(value, fc.record({ name: value, arguments: value, uri: value, _meta: value })),
        },
        { requiredKeys: ['jsonrpc', 'method'] },
      );
      await inRuns(300).forAllAsync(message, async (sent) => {
        const response = await post('/mcp', sent);
        const text = await response.text();
        assert.ok([200, 202, 400].includes(response.status), `${response.status} ${text}`);
        assert.ok(!/node_modules|\bat .*:\d+:\d+/.test(text), text);
      });
      const errors = ports.entries.filter(({ level }) => level === 'error');
      assert.deepEqual(errors, []);
    });
  });
});
