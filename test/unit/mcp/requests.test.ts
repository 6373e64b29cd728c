/** Requests with the expected response, and the number of rate limit tokens that each request costs. */
import assert from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import fc from 'fast-check';
import { Addresses } from '../../../functions/src/access/rules/addresses.ts';
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import { addressOf } from '../../../functions/src/mcp/http/request.ts';
import { assertCivil } from '../../e2e/support/civility.ts';
import { type HttpResponse, send as sendTo } from '../../e2e/support/http.ts';
import { counterToolset, systemToolset } from '../../support/fixture-toolset.ts';
import { MODERN_META, memoryPorts, type RunningEndpoint, serveEndpoint } from '../../support/mcp-endpoint.ts';
import { RawConnection } from '../../support/rawHttp.ts';

const JSON_TYPE = { 'Content-Type': 'application/json' };
const CREDENTIAL = { Authorization: 'Bearer leader-key' };
const KEY = `mk_${'a'.repeat(20)}.${'b'.repeat(40)}`;
const MIB = 1024 * 1024;

type Headers = Readonly<Record<string, string>>;
type Head = readonly [what: string, line: string, headers: Headers, status: number, message: RegExp, allow?: string];

const withCredential = (credential: string, expected: RegExp): Head => [
  `the credential ${credential.slice(0, 20)}`,
  'POST /mcp',
  { ...JSON_TYPE, Authorization: credential },
  401,
  expected,
];

const POST = { ...JSON_TYPE, ...CREDENTIAL };

/** Requests that are refused because of their headers. They cost no token, and their body is never sent. */
const REFUSED_BY_HEAD: readonly Head[] = [
  ['no credential', 'POST /mcp', JSON_TYPE, 401, /Missing credential.*Authorization: Bearer.*registerAgent/],
  withCredential('Bearer no', /not known/),
  withCredential(KEY, /lacks the word "Bearer".*Authorization: Bearer <key>/),
  withCredential('Basic dTpw', /must start with "Bearer", not "Basic"/),
  withCredential('Bearer', /Missing credential after "Bearer"/),
  withCredential('Bearer a b', /must not contain spaces/),
  withCredential('Bearer $MUSTER_KEY', /placeholder/),
  withCredential('Bearer <key>', /placeholder/),
  withCredential('Bearer "x"', /quoted/),
  withCredential('Bearer expired', /It has expired\. Renew it\./),
  ['the method PUT', 'PUT /mcp', POST, 405, /POST/, 'POST'],
  ['the method GET', 'GET /mcp', CREDENTIAL, 405, /a hub for AI agents.*speaks MCP.*claude mcp add/, 'POST'],
  ['the method GET at /rpc', 'GET /mcp/rpc', CREDENTIAL, 405, /plain JSON-RPC 2\.0/, 'POST'],
  ['the method DELETE', 'DELETE /mcp/coordination', CREDENTIAL, 405, /no sessions/, 'POST'],
  ['the method GET without a credential', 'GET /mcp', {}, 401, /Missing credential/],
  ['the method DELETE without a credential', 'DELETE /mcp/coordination', {}, 401, /Missing credential/],
  ['an unknown path', 'POST /none', POST, 404, /Unknown path/],
  ['the path of a toolset that is not served', 'GET /mcp/todo', CREDENTIAL, 404, /endpoints/],
  ['an unknown path without a credential', 'GET /mcp/todo', {}, 404, /endpoints/],
  ['a foreign origin', 'POST /mcp', { ...POST, Origin: 'https://evil.example' }, 403, /origin/],
  ...['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp'].map(
    (type): Head => [
      `the content type ${type}`,
      'POST /mcp',
      { ...CREDENTIAL, 'Content-Type': type },
      415,
      /"Content-Type: application\/json"/,
    ],
  ),
  ['an encoding', 'POST /mcp', { ...POST, 'Content-Encoding': 'gzip' }, 415, /must not be encoded.*gzip/],
  ...[JSON_TYPE, POST].map(
    (headers, at): Head => [
      `a length over 4 MiB, ${at === 0 ? 'without' : 'with'} a credential`,
      'POST /mcp',
      { ...headers, 'Content-Length': String(4 * MIB + 1) },
      413,
      /4194304 bytes.*4194305/,
    ],
  ),
];

const message = (method: string, params?: unknown, id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params });
const notification = (method: string) => ({ jsonrpc: '2.0', method });
const rpc = (members: string) => `{"jsonrpc":"2.0",${members}}`;
const pings = (count: number) => Array.from({ length: count }, (_, id) => message('ping', undefined, id));
const echo = { name: 'system_echo', arguments: { text: 'a', data: 1 } };
const CALLER = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

type Sent = readonly [
  what: string,
  body: unknown,
  answer?: { readonly status?: number; readonly id?: unknown; readonly message?: RegExp; readonly cost?: number },
  path?: '/mcp' | '/mcp/rpc',
];

const bad = (expected?: RegExp, id?: unknown) => ({
  status: 400,
  ...(expected && { message: expected }),
  ...(id !== undefined && { id }),
});
const ACCEPTED = { status: 202 };
const call = (args: string) => rpc(`"id":1,"method":"tools/call","params":{"name":"system_echo",${args}}`);

/** Each body gets status 200 and costs one token, unless its row states otherwise. Texts are sent unchanged. */
const BODIES: readonly Sent[] = [
  ['a tool call', message('tools/call', echo)],
  ['a tool call with wrong arguments', message('tools/call', { name: 'system_echo' })],
  ['a call of an unknown tool', message('tools/call', { name: 'none' })],
  ['a call of __proto__', message('tools/call', { name: '__proto__', arguments: {} })],
  ['a call without params', message('tools/call')],
  ['a call with __proto__ as an argument', call('"arguments":{"__proto__":{}}')],
  ['a call with a number beyond range', call('"arguments":{"data":1e999}')],
  ['a call that is a notification', notification('tools/call'), ACCEPTED],
  ['a resource', message('resources/read', { uri: 'coordination://status' })],
  ['an unknown resource', message('resources/read', { uri: 'coordination://none' })],
  ['a list', message('tools/list')],
  ['a ping', message('ping')],
  ['an initialize', message('initialize', CALLER)],
  ['an unknown revision', message('initialize', { ...CALLER, protocolVersion: '9999-99-99' })],
  ['an unknown method', message('prompts/list')],
  ['a method of servers', message('sampling/createMessage', {})],
  ['a method without a name', message('')],
  ['a method named like an object property', message('toString')],
  ['a notification', notification('notifications/initialized'), ACCEPTED],
  ['an unknown notification', notification('notifications/no-such'), ACCEPTED],
  ['a reply', rpc('"id":1,"result":{}'), ACCEPTED],
  ['an error', rpc('"id":1,"error":{"code":1,"message":"x"}'), ACCEPTED],
  ['a batch', [message('ping'), message('tools/call', echo, 2), notification('x')], { cost: 3 }],

  ['an empty body', '', bad(/the body is empty/, null)],
  ['text that is not JSON', '{"jsonrpc": "2.0",\n "id": 1,\n "method": tools/list}', bad(/Unexpected token 'o'/, null)],
  ['two concatenated messages', rpc('"id":1,"method":"ping"').repeat(2), bad(/the body is not JSON/)],
  ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22]), bad(/UTF-8/)],
  ['a NUL', '\u0000', bad()],
  ['an unterminated string', `"${'x'.repeat(1_000_000)}`, bad()],
  ['unterminated lists', '['.repeat(100_000), bad(/too deeply/)],
  ['deeply nested params', rpc(`"id":1,"method":"ping","params":{"a":${deep(200_000)}}`), bad()],
  ['an id of nested lists', rpc(`"id":${deep(200_000)},"method":"ping"`), bad()],
  ['a number', '5', bad(/A message must be an object/, null)],
  ['no version', '{"id":1,"method":"ping"}', bad(/"jsonrpc" must be "2\.0"/, 1)],
  ['another version', '{"jsonrpc":"1.0","id":1,"method":"tools/list"}', bad()],
  ['no method', rpc('"id":1'), bad()],
  ['a method that is a number', rpc('"id":"a","method":7'), bad(/"method" must be a string/, 'a')],
  ['a null id', rpc('"id":null,"method":"ping"'), bad(/"id" must be a whole number or a string/, null)],
  ['an id that is an object', rpc('"id":{},"method":"ping"'), bad()],
  ['an id with a fraction', rpc('"id":1.5,"method":"ping"'), bad()],
  ['an id beyond range', rpc('"id":1e999,"method":"ping"'), bad()],
  ['a long id', message('ping', undefined, 'x'.repeat(100_000)), bad()],
  ['params that are a list', rpc('"id":2,"method":"ping","params":[]'), bad(/"params" must be an object/, 2)],
  ['params that are a number', rpc('"id":2,"method":"ping","params":7'), bad(/"params" must be an object/, 2)],
  ['a wrong _meta', rpc('"id":2,"method":"ping","params":{"_meta":7}'), bad(/"params\._meta" must be/, 2)],
  ['an unknown member', rpc('"id":1,"method":"tools/list","params":{},"other":1'), bad()],
  ['a batch with a bad message', [message('ping'), {}], bad(/Message 2 of the batch: "jsonrpc"/, null)],
  ['an empty batch', [], bad(/1 to 50 messages/)],
  ['a batch that is too large', pings(51), bad(/1 to 50 messages/)],
  ['a batch of batches', [[]], bad()],
  ['a batch of null', [null], bad()],
  ['a batch that uses an id twice', [message('ping'), message('ping')], bad()],

  ['a method of plain JSON-RPC', message('system.echo', echo.arguments), {}, '/mcp/rpc'],
  ['an unknown method of plain JSON-RPC', message('none'), {}, '/mcp/rpc'],
  ['params by position in plain JSON-RPC', message('system.echo', []), {}, '/mcp/rpc'],
  ['an empty object in plain JSON-RPC', {}, {}, '/mcp/rpc'],
  ['text that is not JSON in plain JSON-RPC', '{', {}, '/mcp/rpc'],
  ['an empty batch in plain JSON-RPC', [], {}, '/mcp/rpc'],
  ['a batch in plain JSON-RPC', [message('system.echo', echo.arguments), message('none'), 7], { cost: 3 }, '/mcp/rpc'],
];

const VERSION = { protocolVersion: '2025-06-18', capabilities: {} };

/** Rows: method, params, and the expected error about the params (undefined if no such error is expected). */
const PARAMS: readonly (readonly [string, object | undefined, RegExp | undefined])[] = [
  [
    'initialize',
    undefined,
    /"protocolVersion" is missing, expected string; "capabilities" is missing, expected object; "clientInfo" is missing, expected object\./,
  ],
  ['initialize', {}, /Invalid params for initialize: "protocolVersion" is missing/],
  [
    'initialize',
    { ...VERSION, clientInfo: { name: 'x' } },
    /initialize: "clientInfo\.version" is missing, expected string\.$/,
  ],
  ['initialize', { ...VERSION, protocolVersion: 7, clientInfo: {} }, /"protocolVersion": .*string/],
  ['tools/call', undefined, /Invalid params for tools\/call: "name" is missing, expected string\.$/],
  ['tools/call', {}, /"name" is missing/],
  ['tools/call', { name: 7 }, /"name": .*string/],
  ['tools/call', { name: 'system_echo', arguments: [] }, /"arguments": expected object/],
  ['tools/call', { name: 'none' }, /Unknown tool/],
  ['resources/read', {}, /uri/],
  ['resources/read', { uri: 7 }, /uri/],
  ['tools/list', { cursor: 7 }, /cursor/],
  ['tools/list', {}, undefined],
  ['tools/call', echo, undefined],
  ['server/discover', {}, undefined],
  ['no/such', {}, undefined],
];

const HEADERS: readonly Headers[] = [
  { 'MCP-Protocol-Version': '1999-01-01' },
  { 'MCP-Protocol-Version': '2026-07-28' },
  { 'MCP-Protocol-Version': '../../..' },
  { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': 'system_echo' },
  { 'Mcp-Method': 'no/such' },
  { 'Mcp-Session-Id': 'x'.repeat(4000) },
  { 'Mcp-Session-Id': 'never-issued' },
  { Accept: 'text/html' },
  { Accept: 'nonsense;;;' },
  { 'Content-Type': 'application/json; charset=utf-16' },
  { 'Content-Type': 'multipart/form-data; boundary=x' },
  { 'X-MCP-Toolsets': '__proto__' },
  { 'X-MCP-Toolsets': ',,,' },
  { 'X-MCP-Readonly': '\u00ff' },
  { 'X-Forwarded-Proto': 'javascript' },
  { 'X-HTTP-Method-Override': 'DELETE' },
  { Authorization: `Bearer ${'x'.repeat(7000)}` },
];

const NAMES = ['', '.', '..', 'constructor', 'system', 'system_', 'a\0b', '\ud800', '../tools', 'x'.repeat(500_000)];
const URIS = [
  '',
  'coordination://',
  'coordination://status/../tasks',
  'file:///etc/passwd',
  '__proto__',
  'x'.repeat(500_000),
];

const PATHS = [
  ...['/%ff', '/%', '/mcp/%c3%28', '/mcp/%zz?x=%ff', '/mcp/../..', '/mcp//', '/mcp/coordination/../onboarding'],
  ...['/mcp/coordination%2freadonly', '/mcp/%2e%2e', '/mcp/%00', '/mcp/;x', '/mcp/__proto__', '/mcp?workspace=..%2f..'],
  ...[
    '/mcp?workspace=a&workspace=b',
    '/mcp?workspace[]=x',
    '/mcp?toolsets=%00',
    '/mcp?=',
    '/mcp?%ff',
    '/mcp?readonly=%ZZ',
  ],
];

interface Failure {
  readonly id: unknown;
  readonly error: { readonly code: number; readonly message: string };
}

describe('HTTP request to the endpoint', () => {
  const ports = memoryPorts();
  const addresses: (string | undefined)[] = [];
  let taken = 0;
  let isLimited = false;
  let endpoint: RunningEndpoint;

  before(async () => {
    ports.limits.take = async () => {
      taken += 1;
      if (isLimited) throw new MusterError('RATE_LIMITED', 'Too many.', { retryAfter: 7 });
    };
    const { authenticate } = ports.authenticator;
    ports.authenticator.authenticate = async (bearer, address) => {
      addresses.push(address);
      if (bearer !== 'expired') return authenticate(bearer);
      throw new MusterError('TOKEN_EXPIRED', 'It has expired.', { suggestion: 'Renew it.' });
    };
    endpoint = await serveEndpoint({ ...ports, toolsets: [systemToolset, counterToolset(ports.settled)] });
  });

  beforeEach(() => {
    taken = 0;
    isLimited = false;
  });

  after(() => endpoint.close());

  const post = (path: string, body: unknown, headers: Headers = {}): Promise<HttpResponse> =>
    sendTo(endpoint.url + path, {
      method: 'POST',
      headers: { ...POST, Accept: 'application/json, text/event-stream', ...headers },
      body: typeof body === 'string' || body instanceof Buffer ? body : JSON.stringify(body),
    });

  const list = (headers: Headers = {}) => post('/mcp', message('tools/list'), headers);

  function assertFails({ json, text }: HttpResponse, expected: RegExp): Failure {
    assert.doesNotMatch(text, /invalid_type|"path"|\\n/, 'no dump');
    const failure = json as Failure;
    assert.match(failure.error.message, expected);
    return failure;
  }

  for (const [what, line, headers, status, expected, allow] of REFUSED_BY_HEAD)
    it(`with ${what} is refused with ${status} before its body arrives`, async () => {
      const raw = await RawConnection.open(endpoint.url);
      raw.head(line, { 'Content-Length': '1000', ...headers });
      const answer = await raw.answer();
      raw.socket.destroy();
      assert.equal(answer.status, status, answer.body);
      assert.equal(answer.headers.get('content-type'), 'application/json', answer.body);
      assert.equal(answer.headers.get('allow'), allow);
      assert.match(answer.body.replaceAll('\\"', '"'), expected);
      assert.doesNotThrow(() => JSON.parse(answer.body), answer.body);
      assert.ok(!answer.body.includes(KEY));
      if (status === 401) assert.match(answer.headers.get('www-authenticate') ?? '', /^Bearer realm="muster"/);
      assert.equal(taken, 0);
    });

  for (const [what, body, { status = 200, id, message: expected, cost = 1 } = {}, path = '/mcp'] of BODIES)
    it(`with ${what} gets status ${status}, costs ${cost} tokens, and is refused beyond the rate limit`, async () => {
      const answer = await post(path, body);
      assertCivil(answer, String(body));
      assert.equal(answer.status, status, answer.text.slice(0, 300));
      assert.ok(status === 200 || answer.text.length < 1000);
      if (expected !== undefined) assertFails(answer, expected);
      if (id !== undefined) assert.equal((answer.json as Failure).id, id);
      assert.equal(answer.headers.get('mcp-session-id'), null);
      assert.equal(taken, cost);
      isLimited = true;
      const limited = await post(path, body);
      assert.match(limited.text, /-32400/);
      const retry = limited.headers.get('retry-after');
      assert.ok(limited.status === 200 || (limited.status === 429 && retry === '7'), limited.text);
    });

  for (const [method, params, expected] of PARAMS)
    it(`for ${method} with ${JSON.stringify(params)} gets the same response in both revisions`, async () => {
      const sent = { jsonrpc: '2.0', id: 'x', method, params };
      const name = Object(params).name;
      const headers = {
        'MCP-Protocol-Version': '2026-07-28',
        'Mcp-Method': method,
        ...(name !== undefined && { 'Mcp-Name': String(name) }),
      };
      const modern = () => post('/mcp', { ...sent, params: { ...params, _meta: MODERN_META } }, headers);
      const eras = method === 'initialize' ? [() => post('/mcp', sent)] : [() => post('/mcp', sent), modern];
      for (const era of eras) {
        const answer = await era();
        if (expected === undefined) continue;
        const { id, error } = assertFails(answer, expected);
        assert.deepEqual([answer.status, id, error.code], [200, 'x', -32602]);
      }
      assert.equal(taken, eras.length);
    });

  it('gets an error message if its bytes are not a JSON-RPC message', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
        const answer = await post('/mcp', Buffer.from(bytes));
        assert.equal(answer.status, 400);
        assertCivil(answer, Buffer.from(bytes).toString('hex'));
      }),
      { numRuns: 40, includeErrorInReport: true },
    );
  });

  it('gets a JSON response even if its headers are unusual', async () => {
    for (const headers of HEADERS) assertCivil(await list(headers), JSON.stringify(headers));
  });

  it('gets a short error if it names an unknown tool or resource', async () => {
    const sent = [
      ...NAMES.map((name) => message('tools/call', { name, arguments: {} })),
      ...URIS.map((uri) => message('resources/read', { uri })),
    ];
    for (const one of sent) {
      const answer = await post('/mcp', one);
      assertCivil(answer, JSON.stringify(one));
      assert.match(answer.text, /"error":/);
      assert.ok(answer.text.length < 1000);
    }
  });

  it('gets a JSON response even if its path is malformed or malicious', async () => {
    const body = JSON.stringify(message('tools/list'));
    for (const path of PATHS) {
      const raw = await RawConnection.open(endpoint.url);
      raw.head(`POST ${path}`, { ...POST, 'Content-Length': String(body.length) });
      raw.write(body);
      const { status, headers, body: text } = await raw.answer();
      raw.socket.destroy();
      const answered = { status, headers: new Headers([...headers]), text, json: JSON.parse(text) };
      assertCivil(answered, path);
    }
  });

  it('with the method HEAD is refused without a response body', async () => {
    for (const [headers, status] of [
      [CREDENTIAL, 405],
      [{}, 401],
    ] as const) {
      const answer = await sendTo(`${endpoint.url}/mcp`, { method: 'HEAD', headers });
      assert.deepEqual([answer.status, answer.text], [status, '']);
    }
  });

  describe('to a deployment with OAuth', () => {
    const METADATA = 'https://muster.example/.well-known/oauth-protected-resource/mcp';
    const CHALLENGE = `Bearer realm="muster", resource_metadata="${METADATA}", scope="muster:read muster:write"`;
    let open: RunningEndpoint;

    before(async () => {
      const own = new Addresses({ publicUrl: 'https://muster.example', functionUrl: undefined });
      open = await serveEndpoint({ ...ports, addresses: own, toolsets: [systemToolset] });
    });

    after(() => open.close());

    it('gets the address of the sign-in if it has no credential, for any method', async () => {
      for (const method of ['GET', 'HEAD', 'DELETE', 'PUT', 'POST']) {
        const answer = await sendTo(`${open.url}/mcp`, { method, headers: JSON_TYPE });
        assert.equal(answer.status, 401, method);
        assert.equal(answer.headers.get('www-authenticate'), CHALLENGE, method);
        if (method !== 'HEAD') assert.match(answer.text, /People sign in from their MCP client.*Authorization: Bearer/);
      }
    });

    it('gets the address of the sign-in and an escaped error text if its credential is invalid', async () => {
      const { authenticate } = ports.authenticator;
      ports.authenticator.authenticate = async () => {
        throw new MusterError('UNAUTHORIZED', 'It is "forged"\nö.');
      };
      const answer = await sendTo(`${open.url}/mcp`, { headers: { Authorization: 'Bearer x.y' } });
      ports.authenticator.authenticate = authenticate;
      assert.equal(answer.status, 401);
      assert.equal(
        answer.headers.get('www-authenticate'),
        `${CHALLENGE}, error="invalid_token", error_description="It is ?forged???."`,
      );
    });
  });

  it('has the last address in the header X-Forwarded-For as its client address, by default', async () => {
    addresses.length = 0;
    await list({ 'X-Forwarded-For': '198.51.100.1, 203.0.113.7' });
    await list();
    assert.deepEqual(addresses, ['203.0.113.7', '127.0.0.1']);
  });

  for (const [trusted, forwarded, expected] of [
    [0, '2001:db8:1:2:3:4:5:6', '2001:db8:1:0'],
    [0, '2001:DB8:1:02ff::9', '2001:db8:1:200'],
    [0, '2001:db8::9', '2001:db8:0:0'],
    [0, '::1', '0:0:0:0'],
    [0, '::ffff:203.0.113.7', '203.0.113.7'],
    [0, 'spoofed, ', ''],
    [0, ':'.repeat(100), '0:0:0:0'],
    [0, 'x'.repeat(100), 'x'.repeat(45)],
    [0, 'forged, 198.51.100.7', '198.51.100.7'],
    [1, '198.51.100.7, 34.1.1.1', '198.51.100.7'],
    [1, 'forged, 198.51.100.7, 34.1.1.1', '198.51.100.7'],
    [1, '2001:db8:1:2ff::9, 34.1.1.1', '2001:db8:1:200'],
    [1, '198.51.100.7', '198.51.100.7'],
    [1, undefined, ''],
    [2, '198.51.100.7, 151.101.1.1, 34.1.1.1', '198.51.100.7'],
    [2, 'forged, 198.51.100.7', '198.51.100.7'],
  ] as const)
    it(`from ${forwarded?.slice(0, 40)} behind ${trusted} proxies has the client address ${expected}`, () => {
      const request = new IncomingMessage(new Socket());
      if (forwarded !== undefined) request.headers['x-forwarded-for'] = forwarded;
      assert.equal(addressOf(request, trusted), expected);
    });
});
