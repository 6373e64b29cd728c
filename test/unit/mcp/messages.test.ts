/** What a client is told that sends something malformed: what is wrong, where, and what to do. */
import assert from 'node:assert/strict';
import { Addresses } from '../../../functions/src/access/rules/addresses.ts';
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import { counterToolset, systemToolset } from '../../support/fixture-toolset.ts';
import { memoryPorts, type RunningEndpoint, serveEndpoint } from '../../support/mcp-endpoint.ts';

const HEADERS = {
  Authorization: 'Bearer leader-key',
  'Content-Type': 'application/json',
  Accept: 'application/json, text/event-stream',
};
const KEY = `mk_${'a'.repeat(20)}.${'b'.repeat(40)}`;
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

interface Failure {
  readonly id: unknown;
  readonly error: { readonly code: number; readonly message: string };
}

describe('what a client is told', () => {
  const ports = memoryPorts();
  let endpoint: RunningEndpoint;

  before(async () => {
    const { authenticate } = ports.authenticator;
    ports.authenticator.authenticate = async (bearer) => {
      if (bearer !== 'expired') return authenticate(bearer);
      throw new MusterError('TOKEN_EXPIRED', 'It has expired.', { suggestion: 'Renew it.' });
    };
    endpoint = await serveEndpoint({ ...ports, toolsets: [systemToolset, counterToolset(ports.settled)] });
  });

  after(() => endpoint.close());

  const send = (path: string, init: RequestInit & { headers?: Record<string, string> } = {}) =>
    fetch(endpoint.url + path, { method: 'POST', ...init, headers: { ...HEADERS, ...init.headers } });

  async function failure(response: Promise<Response>, status: number): Promise<Failure> {
    const answer = await response;
    const text = await answer.text();
    assert.equal(answer.status, status, text);
    const parsed = JSON.parse(text) as Failure;
    assert.equal(typeof parsed.error.code, 'number', text);
    assert.doesNotMatch(text, /invalid_type|"path"|\\n/, 'no dump');
    return parsed;
  }

  for (const [sent, message] of [
    [KEY, /lacks the word "Bearer".*Authorization: Bearer <key>/],
    ['Basic dTpw', /begins with another word "Basic" than "Bearer"/],
    ['Bearer', /After "Bearer" there is no credential/],
    ['Bearer a b', /several words/],
    ['Bearer $MUSTER_KEY', /placeholder/],
    ['Bearer <key>', /placeholder/],
    ['Bearer "x"', /quoted/],
    ['', /There is no credential.*onboarding\.registerAgent/],
    ['Bearer expired', /It has expired\. Renew it\./],
  ] as const) {
    it(`of the credential: ${sent}`, async () => {
      const { error } = await failure(send('/mcp', { headers: { Authorization: sent }, body: '{}' }), 401);
      assert.match(error.message, message);
      assert.ok(!error.message.includes(KEY));
    });
  }

  const ASKED = [
    ['/mcp', 'GET', 'POST', /Muster, a hub for AI agents.*speaks MCP.*claude mcp add --transport http/],
    ['/mcp/todo', 'GET', undefined, /endpoints/],
    ['/mcp/rpc', 'GET', 'POST', /plain JSON-RPC 2\.0/],
    ['/mcp/coordination', 'DELETE', 'POST', /no sessions/],
    ['/mcp', 'HEAD', 'POST', /^$/],
  ] as const;

  it('of the address, by whatever method a person or a client tries it', async () => {
    for (const [path, method, allowed, message] of ASKED) {
      const response = await send(path, { method });
      assert.equal(response.status, allowed === undefined ? 404 : 405);
      assert.equal(response.headers.get('allow'), allowed ?? null);
      assert.equal(response.headers.get('content-type'), 'application/json');
      assert.match(await response.text(), message);
    }
  });

  it('first of all that a credential is needed, by whatever method', async () => {
    for (const [path, method, allowed] of ASKED) {
      const response = await send(path, { method, headers: { Authorization: '' } });
      const [status, challenge, told] =
        allowed === undefined
          ? [404, null, /endpoints/]
          : [401, 'Bearer realm="muster"', /There is no credential/];
      assert.equal(response.status, status, `${method} ${path}`);
      assert.equal(response.headers.get('www-authenticate'), challenge);
      assert.equal(response.headers.get('allow'), null);
      assert.equal(response.headers.get('content-type'), 'application/json');
      assert.match(await response.text(), method === 'HEAD' ? /^$/ : told);
    }
  });

  describe('where people sign in', () => {
    const METADATA = 'https://muster.example/.well-known/oauth-protected-resource/mcp';
    let open: RunningEndpoint;

    before(async () => {
      const addresses = new Addresses({ publicUrl: 'https://muster.example', functionUrl: undefined });
      open = await serveEndpoint({ ...ports, addresses, toolsets: [systemToolset] });
    });

    after(() => open.close());

    it('is where one signs in, before anything else, by whatever method', async () => {
      const challenge = `Bearer realm="muster", resource_metadata="${METADATA}", scope="muster:read muster:write"`;
      for (const method of ['GET', 'HEAD', 'DELETE', 'PUT', 'POST']) {
        const response = await fetch(`${open.url}/mcp`, {
          method,
          headers: { 'Content-Type': 'application/json' },
        });
        assert.equal(response.status, 401, method);
        assert.equal(response.headers.get('www-authenticate'), challenge, method);
        const text = await response.text();
        if (method !== 'HEAD')
          assert.match(text, /A person signs in from their MCP client.*Authorization: Bearer/);
      }
    });

    it('is the same with what is wrong with a credential, which is not repeated', async () => {
      const { authenticate } = ports.authenticator;
      ports.authenticator.authenticate = async () => {
        throw new MusterError('UNAUTHORIZED', 'It is "forged"\nö.');
      };
      const response = await fetch(`${open.url}/mcp`, { headers: { Authorization: 'Bearer x.y' } });
      ports.authenticator.authenticate = authenticate;
      assert.equal(response.status, 401);
      assert.equal(
        response.headers.get('www-authenticate'),
        `Bearer realm="muster", resource_metadata="${METADATA}", scope="muster:read muster:write", error="invalid_token", error_description="It is ?forged???."`,
      );
    });
  });

  it('of the content type', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp']) {
      const { error } = await failure(send('/mcp', { headers: { 'Content-Type': type }, body: '{}' }), 415);
      assert.match(error.message, /"Content-Type: application\/json"/);
    }
  });

  for (const [body, id, message] of [
    ['', null, /the body is empty/],
    [
      '{"jsonrpc": "2.0",\n "id": 1,\n "method": tools/list}',
      null,
      /At line 3, column 12: expected a value, found "t"/,
    ],
    ['5', null, /A message is an object/],
    ['{"id":1,"method":"ping"}', 1, /"jsonrpc" must be "2\.0"/],
    ['{"jsonrpc":"2.0","id":"a","method":7}', 'a', /"method" must be a string/],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', null, /"id" must be a whole number or a string/],
    ['{"jsonrpc":"2.0","id":2,"method":"ping","params":[]}', 2, /"params" must be an object/],
    ['{"jsonrpc":"2.0","id":2,"method":"ping","params":7}', 2, /"params" must be an object/],
    ['{"jsonrpc":"2.0","id":2,"method":"ping","params":{"_meta":7}}', 2, /"params\._meta" must be an object/],
    ['[{"jsonrpc":"2.0","id":1,"method":"ping"},{}]', null, /Message 2 of the batch: "jsonrpc"/],
    ['[]', null, /1 to 50 messages/],
  ] as const) {
    it(`of the message: ${JSON.stringify(body)}`, async () => {
      const answer = await failure(send('/mcp', { body }), 400);
      assert.equal(answer.id, id);
      assert.match(answer.error.message, message);
    });
  }

  it('of bytes that are no text', async () => {
    const { error } = await failure(send('/mcp', { body: Buffer.from([0x22, 0xff, 0x22]) }), 400);
    assert.match(error.message, /UTF-8/);
  });

  const VERSION = { protocolVersion: '2025-06-18', capabilities: {} };

  for (const [method, params, message] of [
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
    ['resources/read', {}, /uri/],
    ['resources/read', { uri: 7 }, /uri/],
    ['tools/list', { cursor: 7 }, /cursor/],
  ] as const) {
    it(`of the params of ${method}: ${JSON.stringify(params)}`, async () => {
      const request = { jsonrpc: '2.0', id: 'x', method, params };
      const { id, error } = await failure(send('/mcp', { body: JSON.stringify(request) }), 200);
      assert.deepEqual([id, error.code], ['x', -32602]);
      assert.match(error.message, message);
      if (method === 'initialize') return;
      const modern = { ...request, params: { ...params, _meta: META } };
      const headers: Record<string, string> = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': method };
      if (params !== undefined && 'name' in params) headers['Mcp-Name'] = String(params.name);
      const later = await failure(send('/mcp', { headers, body: JSON.stringify(modern) }), 200);
      assert.deepEqual([later.id, later.error.code], ['x', -32602]);
      assert.match(later.error.message, message);
    });
  }
});
