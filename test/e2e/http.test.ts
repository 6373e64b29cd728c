/** HTTP behavior of the endpoint that every client can observe. */
import assert from 'node:assert/strict';
import { connect, ERAS, isRecord } from './support/clients.ts';
import { endpointUrl, MCP_URL, newWorkspace, tokenOf } from './support/endpoint.ts';
import { type HttpResponse, headersFor, post, request, send } from './support/http.ts';

const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
const FOUR_MIB = 4 * 1024 * 1024;

/** Expected challenge for callers without a credential. It contains the address of the sign-in metadata. */
const CHALLENGE =
  /^Bearer realm="muster", resource_metadata="http[^"]+\/\.well-known\/oauth-protected-resource[^"]*", scope="muster:read muster:write"$/;

describe('the HTTP endpoint', () => {
  let token: string;

  before(async () => {
    token = await tokenOf('leader');
  });

  it('returns 404 with a list of the valid paths for an unknown path', async () => {
    for (const path of ['/no-such', '/coordination/no-such', '/coordination/readonly/more', '/sse']) {
      const { status, json } = await post(endpointUrl(path), token, LIST);
      assert.equal(status, 404, path);
      assert.ok(isRecord(json) && Array.isArray(json['endpoints']));
      for (const known of [
        '/mcp',
        '/mcp/coordination',
        '/mcp/onboarding',
        '/mcp/network',
        '/mcp/coordination/readonly',
      ]) {
        assert.ok(json['endpoints'].includes(known), `${known} is not listed`);
      }
    }
  });

  it('responds to a request without a credential with 401 and the URL of the sign-in metadata', async () => {
    const answer = await send(MCP_URL, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: LIST });
    assert.equal(answer.status, 401);
    assert.match(answer.headers.get('www-authenticate') ?? '', CHALLENGE);
    const asked = await send(MCP_URL, { method: 'GET' });
    assert.equal(asked.status, 401, 'a caller without a credential gets the challenge, even for GET');
    assert.match(asked.headers.get('www-authenticate') ?? '', CHALLENGE);
  });

  it('responds to an invalid credential with 401, and does not repeat the credential', async () => {
    const forged = `mk_${'a'.repeat(20)}.${'b'.repeat(40)}`;
    for (const bearer of [forged, 'nonsense', 'a.b.c', `${token}x`, token.replace(/^mk_/, 'mk-')]) {
      const answer = await post(MCP_URL, bearer, LIST);
      assert.equal(answer.status, 401, bearer);
      assert.match(
        answer.headers.get('www-authenticate') ?? '',
        /^Bearer realm="muster", resource_metadata="[^"]+", scope="[^"]+", error="invalid_token"/,
      );
      assert.ok(!answer.text.includes(bearer));
    }
  });

  it('rejects requests from web pages of other origins, and accepts those of local origins', async () => {
    for (const origin of ['https://evil.example', 'http://evil.example', 'null', 'http://127.0.0.1.evil.example']) {
      assert.equal((await post(MCP_URL, token, LIST, { Origin: origin })).status, 403, origin);
    }
    const local = await post(MCP_URL, token, LIST, { Origin: 'http://localhost:5173' });
    assert.equal(local.status, 200);
    assert.equal(local.headers.get('access-control-allow-origin'), 'http://localhost:5173');
  });

  it('accepts only POST requests, because GET and DELETE are for streams and sessions', async () => {
    for (const method of ['GET', 'DELETE', 'PUT', 'PATCH']) {
      const { status, headers } = await send(MCP_URL, { method, headers: headersFor(token) });
      assert.equal(status, 405, method);
      assert.equal(headers.get('allow'), 'POST', method);
    }
  });

  it('accepts a body of 4 MiB, and rejects a longer body with 413', async () => {
    assert.equal((await post(MCP_URL, token, LIST.padEnd(FOUR_MIB))).status, 200);
    const { status, text } = await post(MCP_URL, token, LIST.padEnd(FOUR_MIB + 1));
    assert.equal(status, 413);
    assert.match(text, /4194304 bytes/);
  });

  it('rejects a body that is not a JSON-RPC message with 400 and a JSON error', async () => {
    for (const body of ['', '{', 'null', '"text"', '[]', '{}', '{"jsonrpc":"2.0"}', '\ufeff', '{"id":1}']) {
      refusedCleanly(await post(MCP_URL, token, body), body);
    }
    refusedCleanly(await post(MCP_URL, token, Buffer.from([0xff, 0xfe, 0x7b])), 'bytes');
    assert.equal((await post(MCP_URL, token, LIST, { 'Content-Type': 'text/plain' })).status, 415);
  });

  it('issues no session id to a client of any protocol revision', async () => {
    for (const era of ERAS) {
      const sessions: (string | null)[] = [];
      const watching: typeof fetch = async (input, init) => {
        const response = await fetch(input, init);
        sessions.push(response.headers.get('mcp-session-id'));
        return response;
      };
      const client = await connect(era, endpointUrl('', { workspace: newWorkspace('http') }), token, watching);
      await client.call('coordination_get_status');
      await client.close();
      assert.ok(sessions.length >= 2);
      assert.ok(
        sessions.every((session) => session === null),
        era,
      );
    }
  });

  it('responds to a call without a previous handshake, even if its session id is unknown', async () => {
    const url = endpointUrl('/coordination', { workspace: newWorkspace('http') });
    const call = { name: 'get_status', arguments: {} };
    const answer = await request(url, token, 'tools/call', {
      params: call,
      headers: { 'Mcp-Session-Id': 'never-issued' },
    });
    assert.equal(answer.status, 200);
    assert.match(answer.text, /"total_tasks":0/);
  });

  it('serves the concurrent calls of one client on several instances', async () => {
    const url = endpointUrl('/coordination', { workspace: newWorkspace('http') });
    const client = await connect('client 2026-07-28', url, token);
    const create = async (number: number): Promise<unknown> => {
      const { structured } = await client.call('create_task', { description: `Task ${number}` });
      return structured['success'];
    };
    // The emulator starts one instance for each concurrent call.
    const created = await Promise.all(Array.from({ length: 4 }, (_, number) => create(number)));
    assert.ok(created.every((success) => success === true));
    assert.equal((await client.call('get_status')).structured['total_tasks'], 4);
    await client.close();
  });
});

function refusedCleanly({ status, text, json }: HttpResponse, body: string): void {
  assert.equal(status, 400, body);
  assert.ok(isRecord(json), `The response to ${body} is not JSON: ${text}`);
  assert.ok(isRecord(json['error']) && typeof json['error']['code'] === 'number', body);
}
