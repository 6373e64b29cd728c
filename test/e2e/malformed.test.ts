/** Malformed requests to the deployed function. `test/unit/mcp/requests` has the complete table for the endpoint. */
import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { assertCivil } from './support/civility.ts';
import { endpointUrl, MCP_URL, newWorkspace, tokenOf } from './support/endpoint.ts';
import { type HttpResponse, headersFor, post } from './support/http.ts';

const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });

/** One request of each kind that a proxy in front of the function might change. */
const SENT: readonly (readonly [what: string, status: number, body: string | Buffer, headers?: object])[] = [
  ['truncated JSON', 400, '{"jsonrpc":"2.0",'],
  ['bytes that are not text', 400, Buffer.from([0x22, 0xff, 0x22])],
  ['deep nesting', 400, '['.repeat(100_000)],
  ['a body declared as compressed', 415, LIST, { 'Content-Encoding': 'gzip' }],
  ['a body declared as a form', 415, LIST, { 'Content-Type': 'multipart/form-data; boundary=x' }],
  ['an unsigned token', 401, LIST, { Authorization: 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJsZWFkZXIifQ.' }],
  ['a valid message', 200, LIST],
];

const TRICKS = ['/../..', '//', '/%2e%2e', '/%00', '/__proto__', '?workspace=..%2f..', '?%ff', '?readonly=%ZZ'];

describe('the deployed function', () => {
  const url = endpointUrl('', { workspace: newWorkspace('malformed') });
  let token: string;

  before(async () => {
    token = await tokenOf('leader');
  });

  for (const [what, status, body, headers] of SENT)
    it(`responds to ${what} with status ${status} and JSON`, async () => {
      const answer = await post(url, token, body, { ...headers });
      assertCivil(answer, what);
      assert.equal(answer.status, status);
    });

  it('rejects requests with malformed paths and queries, and reveals no internals', async () => {
    for (const path of TRICKS) assertCivil(await postRaw(path, token), path);
  });
});

/** Sends a request with exactly this path, which fetch would normalize. */
function postRaw(path: string, token: string): Promise<HttpResponse> {
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
