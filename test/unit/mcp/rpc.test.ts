/** The plain JSON-RPC endpoint `/mcp/rpc` over HTTP, with databases and other ports in memory. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import { counterToolset, systemToolset } from '../../support/fixture-toolset.ts';
import {
  JSON_BY_LEADER,
  LEADER,
  memoryPorts,
  type RunningEndpoint,
  serveEndpoint,
} from '../../support/mcp-endpoint.ts';
import { inRuns } from '../../support/properties.ts';

type Json = Record<string, unknown>;

const ECHO = { jsonrpc: '2.0', id: 1, method: 'system.echo', params: { text: 'a', data: null } };

describe('plain JSON-RPC endpoint', () => {
  const ports = memoryPorts();
  let endpoint: RunningEndpoint;

  before(async () => {
    ports.principals.set('confined', { ...LEADER, toolsets: ['system'] } satisfies Principal);
    ports.principals.set('admin', { ...LEADER, maxRole: 'admin' } satisfies Principal);
    ports.principals.set('viewer', { ...LEADER, maxRole: 'viewer' } satisfies Principal);
    endpoint = await serveEndpoint({ ...ports, toolsets: [systemToolset, counterToolset(ports.settled)] });
  });

  after(() => endpoint.close());

  const send = (path: string, init: RequestInit = {}) =>
    fetch(endpoint.url + path, { method: 'POST', ...init, headers: { ...JSON_BY_LEADER, ...init.headers } });

  async function rpc(message: unknown, path = '/mcp/rpc', headers = {}): Promise<Json> {
    const response = await send(path, { body: JSON.stringify(message), headers });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), 'application/json');
    return response.json() as Promise<Json>;
  }

  const errorOf = async (message: unknown, path?: string, headers = {}) =>
    (await rpc(message, path, headers))['error'] as Json;

  const increment = (id: unknown, params: object = {}) => ({
    jsonrpc: '2.0',
    id,
    method: 'coordination.increment',
    params,
  });

  it('returns the bare result of the tool, with the id of the request', async () => {
    for (const id of [1, '1', 'é', '', null, -1.5]) {
      const result = { text: 'a', workspace: 'default', baseUrl: `${endpoint.url}/mcp` };
      assert.deepEqual(await rpc({ ...ECHO, id }), { jsonrpc: '2.0', id, result });
    }
  });

  it('accepts the full name of a tool and the name that MCP lists', async () => {
    for (const method of ['coordination.increment', 'coordination_increment'])
      assert.ok('result' in (await rpc({ jsonrpc: '2.0', id: 1, method })), method);
  });

  it('works without the function name in the path, and supports the URL options of MCP', async () => {
    assert.ok('result' in (await rpc(ECHO, '/rpc')));
    const { result } = await rpc(ECHO, '/mcp/rpc?workspace=alpha');
    assert.equal((result as Json)['workspace'], 'alpha');
    const unknown = { code: -32601, message: 'Unknown method "coordination.increment".' };
    for (const [path, headers] of [
      ['/mcp/rpc?readonly=1', {}],
      ['/mcp/rpc/readonly', {}],
      ['/mcp/rpc?toolsets=system', {}],
      ['/mcp/rpc', { 'X-MCP-Toolsets': 'system' }],
    ] as const) {
      const { code, message } = await errorOf(increment(1), path, headers);
      assert.deepEqual({ code, message }, unknown, path);
    }
  });

  it('returns errors with an integer code, and with details', async () => {
    const fail = { ...ECHO, method: 'coordination.fail', params: { how: 'known' } };
    assert.deepEqual(await rpc(fail, undefined, { Authorization: 'Bearer admin' }), {
      jsonrpc: '2.0',
      id: 1,
      error: {
        code: -32200,
        message: 'Task task-1 not found.',
        data: { field: 'task_id', value: 'task-1', suggestion: 'List the tasks.' },
      },
    });
    const broken = { ...fail, params: { how: 'unforeseen' } };
    const internal = await errorOf(broken, undefined, { Authorization: 'Bearer admin' });
    assert.equal(internal['code'], -32603);
    assert.match(String(internal['message']), /^Internal error\. Report request id [0-9a-f-]{36} to the operator\.$/);
    const missing = await errorOf({ ...ECHO, params: { data: 1 } });
    assert.equal(missing['code'], -32301);
    assert.deepEqual(missing['data'], { field: 'text', reason: 'MISSING' });
    assert.equal((await errorOf({ ...ECHO, params: { text: 5, data: 1 } }))['code'], -32300);
  });

  it('applies the same permission checks as MCP', async () => {
    const weak = await errorOf(increment(1), undefined, { Authorization: 'Bearer viewer' });
    assert.equal(weak['code'], -32101);
    assert.match(String(weak['message']), /requires the role worker/);
    const confined = await errorOf(increment(1), undefined, { Authorization: 'Bearer confined' });
    assert.match(String(confined['message']), /does not include the toolset coordination/);
  });

  it('returns the first response again if a call has the same idempotency key', async () => {
    const first = await rpc(increment(1, { by: 5, idempotency_key: 'rpc' }));
    assert.deepEqual(await rpc(increment(1, { by: 5, idempotency_key: 'rpc' })), first);
    assert.equal((await errorOf(increment(1, { by: 6, idempotency_key: 'rpc' })))['code'], -32201);
  });

  it("updates the agent's presence and writes the audit log", async () => {
    ports.entries.length = 0;
    ports.seen.length = 0;
    await rpc(ECHO);
    assert.deepEqual(ports.seen, ['lead']);
    const rows = ports.entries.map(({ event, fields }) => [event, fields['tool'], fields['outcome']]);
    assert.deepEqual(rows, [['call', 'system.echo', 'OK']]);
  });

  it('suggests similar methods if the method is unknown', async () => {
    const suggestion = async (method: string, path?: string) => {
      const { code, data } = await errorOf({ ...ECHO, method }, path);
      assert.equal(code, -32601);
      return (data as Json)['suggestion'];
    };
    assert.equal(await suggestion('increment'), 'Did you mean coordination.increment?');
    assert.equal(await suggestion('todo.Increment'), 'Did you mean coordination.increment?');
    assert.equal(await suggestion('nope'), 'Methods: system.echo, coordination.increment, coordination.fail.');
    for (const method of ['initialize', 'tools/call'])
      assert.match(String(await suggestion(method)), /For MCP, use \/mcp\./);
    const none = await suggestion('nope', '/mcp/rpc?readonly=1&toolsets=coordination');
    assert.equal(none, 'This URL does not select any tool.');
  });

  it('accepts arguments by name only, not by position', async () => {
    const { code, data } = await errorOf({ ...ECHO, params: ['a'] });
    assert.equal(code, -32602);
    assert.match(JSON.stringify(data), /Send params as an object/);
    assert.ok('result' in (await rpc({ jsonrpc: '2.0', id: 1, method: 'coordination.increment' })));
  });

  it('runs a notification and returns no response', async () => {
    const count = async () => ((await rpc(increment(1, { by: 1 })))['result'] as Json)['count'] as number;
    const before = await count();
    const { id: _, ...notification } = increment(undefined, { by: 10 });
    const unknown = { jsonrpc: '2.0', method: 'nope' };
    const unfit = { jsonrpc: '2.0', method: 'system.echo', params: [] };
    for (const body of [notification, unknown, unfit, [notification, unknown]]) {
      const response = await send('/mcp/rpc', { body: JSON.stringify(body) });
      assert.equal(response.status, 204);
      assert.equal(await response.text(), '');
    }
    assert.equal(await count(), before + 21);
  });

  it('responds to the messages of a batch in their order', async () => {
    const { id: _, ...notification } = increment(undefined);
    const batch = [ECHO, notification, { ...ECHO, id: 'x', method: 'nope' }, 5, [], { ...ECHO, id: 1 }];
    const answers = (await rpc(batch)) as unknown as Json[];
    const rows = answers.map(({ id, error }) => [id, (error as Json | undefined)?.['code']]);
    assert.deepEqual(rows, [
      [1, undefined],
      ['x', -32601],
      [null, -32600],
      [null, -32600],
      [1, undefined],
    ]);
  });

  it('rejects a batch that is empty or too long with a single error', async () => {
    for (const batch of [[], Array.from({ length: 51 }, () => ECHO)]) {
      const { id, error } = await rpc(batch);
      assert.equal(id, null);
      assert.equal((error as Json)['code'], -32600);
    }
  });

  describe('invalid requests', () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    for (const [what, body, code, id] of [
      ['an empty body', '', -32700, null],
      ['half a message', '{"jsonrpc":"2.0"', -32700, null],
      ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22]), -32700, null],
      ['a deep array', deep, -32600, null],
      ['a text', '"text"', -32600, null],
      ['null', 'null', -32600, null],
      ['no version', '{"id":1,"method":"system.echo"}', -32600, 1],
      ['another version', '{"jsonrpc":"1.0","id":1,"method":"system.echo"}', -32600, 1],
      ['no method', '{"jsonrpc":"2.0","id":"a"}', -32600, 'a'],
      ['no method and no id', '{"jsonrpc":"2.0"}', -32600, null],
      ['a method that is a number', '{"jsonrpc":"2.0","method":1,"params":"bar"}', -32600, null],
      ['params that are a text', '{"jsonrpc":"2.0","id":1,"method":"system.echo","params":"a"}', -32600, 1],
      ['params that are a number', '{"jsonrpc":"2.0","id":1,"method":"system.echo","params":7}', -32600, 1],
      ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"system.echo"}', -32600, null],
      ['an id beyond range', '{"jsonrpc":"2.0","id":1e999,"method":"system.echo"}', -32600, null],
      ['a long id', JSON.stringify({ ...ECHO, id: 'x'.repeat(201) }), -32600, null],
      ['a prototype', '{"jsonrpc":"2.0","id":1,"method":"__proto__"}', -32601, 1],
      [
        'params with a prototype',
        '{"jsonrpc":"2.0","id":1,"method":"system.echo","params":{"__proto__":1}}',
        -32300,
        1,
      ],
    ] as const)
      it(`cause the error ${code}: ${what}`, async () => {
        const response = await send('/mcp/rpc', { body });
        const answer = (await response.json()) as Json;
        assert.equal(response.status, 200);
        assert.equal((answer['error'] as Json)['code'], code);
        assert.equal(answer['id'], id);
      });

    it('never cause a server error, for any JSON value', async () => {
      const value = fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' });
      const message = fc.record(
        {
          jsonrpc: fc.oneof({ weight: 5, arbitrary: fc.constant('2.0') }, value),
          id: fc.oneof(fc.integer(), fc.string(), value),
          method: fc.oneof(fc.constantFrom('system.echo', 'coordination.fail', 'coordination.increment'), value),
          params: fc.oneof(value, fc.record({ text: value, data: value, by: value, how: value })),
        },
        { requiredKeys: [] },
      );
      const body = fc.oneof(message, fc.array(fc.oneof(message, value), { maxLength: 5 }), value);
      await inRuns(300).forAllAsync(body, async (sent) =>
        holdsTheProtocol(await send('/mcp/rpc', { body: JSON.stringify(sent) }), sent),
      );
    });

    it('never cause a server error, for any bytes', () =>
      inRuns(100).forAllAsync(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        const response = await send('/mcp/rpc', { body: bytes });
        assert.ok([200, 204].includes(response.status));
        if (response.status === 200) JSON.parse(await response.text());
      }));
  });

  it('uses HTTP status codes for errors that occur before the JSON-RPC message is read', async () => {
    const body = JSON.stringify(ECHO);
    const anonymous = await send('/mcp/rpc', { body, headers: { Authorization: '' } });
    assert.equal(anonymous.status, 401);
    assert.match(anonymous.headers.get('www-authenticate') ?? '', /^Bearer/);
    assert.equal((await send('/mcp/rpc', { body, headers: { Origin: 'https://evil.example' } })).status, 403);
    assert.equal((await send('/mcp/rpc/more', { body })).status, 404);
    const got = await send('/mcp/rpc', { method: 'GET' });
    assert.equal(got.status, 405);
    assert.equal(got.headers.get('allow'), 'POST');
    assert.equal((await send('/mcp/rpc', { body: body.padEnd(4 * 1024 * 1024 + 1) })).status, 413);
    assert.equal((await send('/mcp/rpc', { body, headers: { 'Content-Type': 'text/plain' } })).status, 415);
  });
});

/** Asserts one response per request and none per notification, and that no response reveals internals. */
async function holdsTheProtocol(response: Response, sent: unknown): Promise<void> {
  const text = await response.text();
  assert.ok(!/node_modules|\bat .*:\d+:\d+|srv/.test(text), text);
  if (response.status === 204) return assert.equal(text, '');
  assert.equal(response.status, 200);
  const answer: unknown = JSON.parse(text);
  const answers = Array.isArray(answer) ? (answer as Json[]) : [answer as Json];
  if (Array.isArray(sent)) assert.ok(answers.length <= Math.max(1, sent.length));
  for (const one of answers) {
    assert.equal(one['jsonrpc'], '2.0');
    assert.ok('id' in one);
    assert.ok('result' in one !== 'error' in one, text);
    if ('error' in one) assert.ok(Number.isInteger((one['error'] as Json)['code']));
  }
}
