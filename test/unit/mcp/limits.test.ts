/** Each message costs its caller one token, whatever it is; failed authentications count by address. */
import assert from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import { addressOf } from '../../../functions/src/mcp/http/request.ts';
import { counterToolset, systemToolset } from '../../support/fixture-toolset.ts';
import { memoryPorts, type RunningEndpoint, serveEndpoint } from '../../support/mcp-endpoint.ts';

const HEADERS = {
  Authorization: 'Bearer leader-key',
  'Content-Type': 'application/json',
  Accept: 'application/json, text/event-stream',
};
const META = {
  _meta: {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  },
};
const CALLER = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
};

const message = (method: string, params?: unknown, id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});
const notification = (method: string) => ({ jsonrpc: '2.0', method });

describe('what a request costs', () => {
  const ports = memoryPorts();
  const addresses: (string | undefined)[] = [];
  let taken: number;
  let isLimited: boolean;
  let endpoint: RunningEndpoint;

  before(async () => {
    ports.limits.take = async () => {
      taken += 1;
      if (isLimited) throw new MusterError('RATE_LIMITED', 'Too many.', { retryAfter: 7 });
    };
    const { authenticate } = ports.authenticator;
    ports.authenticator.authenticate = (bearer, address) => {
      addresses.push(address);
      return authenticate(bearer);
    };
    endpoint = await serveEndpoint({ ...ports, toolsets: [systemToolset, counterToolset(ports.settled)] });
  });

  beforeEach(() => {
    taken = 0;
    isLimited = false;
  });

  after(() => endpoint.close());

  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(endpoint.url + path, {
      method: 'POST',
      headers: { ...HEADERS, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });

  const echo = { name: 'system_echo', arguments: { text: 'a', data: 1 } };

  for (const [what, path, body, count] of [
    ['a tool call', '/mcp', message('tools/call', echo), 1],
    ['a tool call with wrong arguments', '/mcp', message('tools/call', { name: 'system_echo' }), 1],
    ['a call of no tool', '/mcp', message('tools/call', { name: 'none' }), 1],
    ['a call that names none', '/mcp', message('tools/call', {}), 1],
    ['a call without params', '/mcp', message('tools/call'), 1],
    ['a call with a list of arguments', '/mcp', message('tools/call', { ...echo, arguments: [] }), 1],
    ['a call that is a notification', '/mcp', notification('tools/call'), 1],
    ['a resource', '/mcp', message('resources/read', { uri: 'coordination://status' }), 1],
    ['no resource', '/mcp', message('resources/read', { uri: 'coordination://none' }), 1],
    ['a list', '/mcp', message('tools/list'), 1],
    ['a ping', '/mcp', message('ping'), 1],
    ['an initialize', '/mcp', message('initialize', CALLER), 1],
    ['no method', '/mcp', message('prompts/list'), 1],
    ['a notification', '/mcp', notification('notifications/initialized'), 1],
    ['a reply', '/mcp', { jsonrpc: '2.0', id: 1, result: {} }, 1],
    ['what is no JSON', '/mcp', '{', 1],
    ['what is no message', '/mcp', '{}', 1],
    ['too large a batch', '/mcp', Array.from({ length: 51 }, (_, id) => message('ping', undefined, id)), 1],
    [
      'a batch',
      '/mcp',
      [message('ping'), message('tools/call', echo, 2), notification('x'), message('ping', undefined, 3)],
      4,
    ],
    ['a method', '/mcp/rpc', message('system.echo', echo.arguments), 1],
    ['no method', '/mcp/rpc', message('none'), 1],
    ['params by position', '/mcp/rpc', message('system.echo', []), 1],
    ['what is no request', '/mcp/rpc', {}, 1],
    ['what is no JSON', '/mcp/rpc', '{', 1],
    ['an empty batch', '/mcp/rpc', [], 1],
    ['a batch', '/mcp/rpc', [message('system.echo', echo.arguments), message('none'), 7], 3],
  ] as const) {
    it(`${path}: ${what} costs ${count}`, async () => {
      await (await post(path, body)).text();
      assert.equal(taken, count);
    });

    it(`${path}: ${what} is refused to whoever calls too often`, async () => {
      isLimited = true;
      const response = await post(path, body);
      const text = await response.text();
      assert.match(text, /-32400/);
      if (response.status !== 200) {
        assert.deepEqual([response.status, response.headers.get('retry-after')], [429, '7'], text);
      }
    });
  }

  for (const [method, params] of [
    ['server/discover', {}],
    ['tools/list', {}],
    ['tools/call', echo],
    ['tools/call', { name: 'none' }],
    ['no/such', {}],
  ] as const) {
    it(`of 2026-07-28, ${method} ${JSON.stringify(params)}, is one as well`, async () => {
      const headers: Record<string, string> = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': method };
      if ('name' in params) headers['Mcp-Name'] = params.name;
      await (await post('/mcp', message(method, { ...params, ...META }), headers)).text();
      assert.equal(taken, 1);
    });
  }

  it('knows its address by what was added last', async () => {
    addresses.length = 0;
    await post('/mcp', message('ping'), { 'X-Forwarded-For': '198.51.100.1, 203.0.113.7' });
    await post('/mcp', message('ping'));
    assert.deepEqual(addresses, ['203.0.113.7', '127.0.0.1']);
  });

  it('takes the /56 of an IPv6 address that its owner has been given', () => {
    for (const [forwarded, expected] of [
      ['2001:db8:1:2:3:4:5:6', '2001:db8:1:0'],
      ['2001:DB8:1:02ff::9', '2001:db8:1:200'],
      ['2001:db8::9', '2001:db8:0:0'],
      ['::1', '0:0:0:0'],
      ['::ffff:203.0.113.7', '203.0.113.7'],
      ['spoofed, ', ''],
      [':'.repeat(100), '0:0:0:0'],
      ['x'.repeat(100), 'x'.repeat(45)],
    ] as const) {
      const request = new IncomingMessage(new Socket());
      request.headers['x-forwarded-for'] = forwarded;
      assert.equal(addressOf(request, 0), expected, forwarded);
    }
  });

  it('skips the entries of trusted proxies, and none that callers write', () => {
    for (const [trusted, forwarded, expected] of [
      [1, '198.51.100.7, 34.1.1.1', '198.51.100.7'],
      [1, 'forged, 198.51.100.7, 34.1.1.1', '198.51.100.7'],
      [2, '198.51.100.7, 151.101.1.1, 34.1.1.1', '198.51.100.7'],
      [1, '2001:db8:1:2ff::9, 34.1.1.1', '2001:db8:1:200'],
      [1, '198.51.100.7', '198.51.100.7'],
      [2, 'forged, 198.51.100.7', '198.51.100.7'],
      [0, 'forged, 198.51.100.7', '198.51.100.7'],
      [1, undefined, ''],
    ] as const) {
      const request = new IncomingMessage(new Socket());
      if (forwarded !== undefined) request.headers['x-forwarded-for'] = forwarded;
      assert.equal(addressOf(request, trusted), expected, `${trusted} of ${forwarded}`);
    }
  });
});
