/** Malformed messages, headers, names and addresses: refused in JSON, soon, and without a word about our insides. */
import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { assertCivil } from './support/civility.ts';
import { isRecord } from './support/clients.ts';
import { endpointUrl, MCP_URL, newWorkspace, tokenOf } from './support/endpoint.ts';
import { type HttpAnswer, headersFor, post, request } from './support/http.ts';

const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });

const BODIES: readonly string[] = [
  '[[]]',
  '[null]',
  `[${LIST},${LIST}]`,
  `[${Array.from({ length: 51 }, (_, id) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}`).join(',')}]`,
  '{"jsonrpc":"1.0","id":1,"method":"tools/list"}',
  '{"jsonrpc":"2.0","id":{},"method":"tools/list"}',
  '{"jsonrpc":"2.0","id":null,"method":"tools/list"}',
  '{"jsonrpc":"2.0","id":1e308,"method":"tools/list"}',
  '{"jsonrpc":"2.0","id":1e999,"method":"tools/list"}',
  `{"jsonrpc":"2.0","id":"${'x'.repeat(100_000)}","method":"tools/list"}`,
  '{"jsonrpc":"2.0","id":1,"method":7}',
  '{"jsonrpc":"2.0","id":1,"method":""}',
  '{"jsonrpc":"2.0","id":1,"method":"__proto__"}',
  '{"jsonrpc":"2.0","id":1,"method":"toString"}',
  '{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}',
  '{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{}}',
  '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}',
  '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":"x"}',
  '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":7}}',
  '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":7}}',
  '{"jsonrpc":"2.0","id":1,"method":"tools/call"}',
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}',
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"coordination_get_status","arguments":[]}}',
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"coordination_get_status","arguments":{"__proto__":{}}}}',
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"coordination_get_status","arguments":{"a":1e999}}}',
  '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}',
  '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"9999-99-99","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}',
  '{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"1999-01-01"}}}',
  '{"jsonrpc":"2.0","method":"notifications/no-such"}',
  '{"jsonrpc":"2.0","id":1,"result":{}}',
  '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}',
  `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}}`,
  `${'['.repeat(100_000)}`,
  `"${'x'.repeat(1_000_000)}`,
  '{"jsonrpc":"2.0","id":1,"method":"tools/list"}{"jsonrpc":"2.0","id":2,"method":"tools/list"}',
  '\u0000',
];

const HEADERS: readonly Readonly<Record<string, string>>[] = [
  { 'MCP-Protocol-Version': '1999-01-01' },
  { 'MCP-Protocol-Version': '2026-07-28' },
  { 'MCP-Protocol-Version': '../../..' },
  { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': 'coordination_get_status' },
  { 'Mcp-Method': 'no/such' },
  { 'Mcp-Session-Id': 'x'.repeat(4000) },
  { Accept: 'text/html' },
  { Accept: 'nonsense;;;' },
  { 'Content-Type': 'application/json; charset=utf-16' },
  { 'Content-Type': 'application/jsonp' },
  { 'Content-Type': 'multipart/form-data; boundary=x' },
  { 'X-MCP-Toolsets': '__proto__' },
  { 'X-MCP-Toolsets': ',,,' },
  { 'X-MCP-Readonly': '\u00ff' },
  { 'X-Forwarded-Proto': 'javascript' },
  { 'X-HTTP-Method-Override': 'DELETE' },
  { Authorization: 'Bearer' },
  { Authorization: 'Bearer ' },
  { Authorization: 'Basic eDp5' },
  { Authorization: `Bearer ${'x'.repeat(7000)}` },
  { Authorization: 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJsZWFkZXIiLCJyb2xlIjoiYWRtaW4ifQ.' },
];

const NAMES: readonly string[] = [
  '',
  '.',
  '..',
  '__proto__',
  'constructor',
  'coordination',
  'coordination_',
  'a\0b',
  '\ud800',
  '../tools',
  'x'.repeat(500_000),
];
const URIS: readonly string[] = [
  '',
  'coordination://',
  'coordination://status/../tasks',
  'file:///etc/passwd',
  'http://169.254.169.254/',
  '__proto__',
  'x'.repeat(500_000),
];

describe('malformed requests', () => {
  const url = endpointUrl('', { workspace: newWorkspace('malformed') });
  let token: string;

  before(async () => {
    token = await tokenOf('leader');
  });

  it('are refused when the message is wrong', async () => {
    for (const body of BODIES) assertCivil(await post(url, token, body), body);
  });

  it('are refused when the bytes are anything at all', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
        const answer = await post(url, token, Buffer.from(bytes));
        assert.equal(answer.status, 400);
        assertCivil(answer, Buffer.from(bytes).toString('hex'));
      }),
      { numRuns: 40, includeErrorInReport: true },
    );
  });

  it('are refused when the message is JSON of any other kind', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json({ maxDepth: 5, stringUnit: 'binary' }), async (body) => {
        assertCivil(await post(url, token, body), body);
      }),
      { numRuns: 60, includeErrorInReport: true },
    );
  });

  it('are refused when their headers are wrong', async () => {
    for (const headers of HEADERS)
      assertCivil(await post(url, token, LIST, headers), JSON.stringify(headers));
  });

  it('are refused when they are compressed and are not', async () => {
    const answer = await post(url, token, LIST, { 'Content-Encoding': 'gzip' });
    assertCivil(answer, 'gzip');
    assert.equal(answer.status, 415);
  });

  it('are refused when they name what there is not', async () => {
    for (const name of NAMES) {
      const answer = await request(url, token, 'tools/call', { name, arguments: {} });
      assertCivil(answer, name);
      assert.ok(isRecord(answer.json) && isRecord(answer.json['error']), name.slice(0, 100));
      assert.ok(answer.text.length < 1000);
    }
    for (const uri of URIS) {
      const answer = await request(url, token, 'resources/read', { uri });
      assertCivil(answer, uri);
      assert.ok(isRecord(answer.json) && isRecord(answer.json['error']), uri.slice(0, 100));
      assert.ok(answer.text.length < 1000);
    }
  });

  it('are refused when their address is a trick', async () => {
    const tricks = [
      '/../..',
      '//',
      '/coordination/../onboarding',
      '/coordination%2freadonly',
      '/%2e%2e',
      '/%00',
      '/;x',
      '/__proto__',
    ];
    const queries = [
      '?workspace=..%2f..',
      '?workspace=a&workspace=b',
      '?workspace[]=x',
      '?toolsets=%00',
      '?=',
      '?%ff',
      '?readonly=%ZZ',
    ];
    for (const path of [...tricks, ...queries]) assertCivil(await postRaw(path, token), path);
  });

  it('leave the endpoint as it was', async () => {
    assert.equal((await post(url, token, LIST)).status, 200);
  });
});

/** A request whose address nobody has tidied up. */
function postRaw(path: string, token: string): Promise<HttpAnswer> {
  const { hostname, port, pathname } = new URL(MCP_URL);
  return new Promise((resolve, reject) => {
    const options = {
      hostname,
      port,
      path: `${pathname}${path}`,
      method: 'POST',
      headers: headersFor(token),
      timeout: 30_000,
    };
    const sent = httpRequest(options, async (response) => {
      const body = await text(response);
      const headers = new Headers({ 'content-type': response.headers['content-type'] ?? '' });
      resolve({ status: response.statusCode ?? 0, headers, text: body, json: JSON.parse(body || 'null') });
    });
    sent.once('error', reject);
    sent.end(LIST);
  });
}
