import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as send } from 'node:http';
import { brotliDecompressSync, constants, gunzipSync } from 'node:zlib';
import { encodingFor } from '../../../functions/src/mcp/http/response.ts';
import { counterToolset, systemToolset } from '../../support/fixture-toolset.ts';
import { memoryPorts, type RunningEndpoint, serveEndpoint } from '../../support/mcp-endpoint.ts';

describe('encodingFor with the value of an Accept-Encoding header', () => {
  for (const [accepted, encoding] of [
    [undefined, undefined],
    ['', undefined],
    ['identity', undefined],
    ['deflate, zstd', undefined],
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br', 'gzip'],
    ['br, gzip, deflate', 'gzip'],
    ['GZip;Q=1', 'gzip'],
    ['gzip;q=0.5, br;q=0.8', 'br'],
    ['gzip;q=0, br', 'br'],
    ['gzip; q=0', undefined],
    ['*', 'gzip'],
    ['*;q=0.1, gzip;q=0', 'br'],
    ['br;q=1, *;q=0', 'br'],
    ['identity, gzip;q=0.5', undefined],
    ['identity;q=0.5, gzip', 'gzip'],
    ['gzip;q=nonsense', undefined],
    ['gzip;q=7', undefined],
  ] as const)
    it(`returns ${encoding} for ${JSON.stringify(accepted)}`, () => assert.equal(encodingFor(accepted), encoding));
});

describe('compression of a response', () => {
  const ports = memoryPorts();
  const description = 'Many words that are listed. '.repeat(100);
  let endpoint: RunningEndpoint;

  before(async () => {
    const counter = counterToolset(ports.settled);
    const tools = counter.tools.map((tool) => ({ ...tool, description }));
    endpoint = await serveEndpoint({ ...ports, toolsets: [systemToolset, { ...counter, tools }] });
  });

  after(() => endpoint.close());

  const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const HEADERS = { Authorization: 'Bearer leader-key', 'Content-Type': 'application/json', Accept: '*/*' };

  /** Returns the bytes as they are transferred, because `fetch` would decompress them. */
  async function raw(body: unknown, headers: Record<string, string>) {
    const sent = send(`${endpoint.url}/mcp`, { method: 'POST', headers: { ...HEADERS, ...headers } });
    sent.end(JSON.stringify(body));
    const [response] = await once(sent, 'response');
    const bytes = Buffer.concat(await response.toArray());
    assert.equal(response.headers['content-length'], String(bytes.length));
    return { headers: response.headers, bytes };
  }

  for (const [what, body] of [
    ['a list', LIST],
    ['a batch', [LIST, { ...LIST, id: 2 }]],
  ] as const)
    it(`applies to ${what} if the client accepts it`, async () => {
      const plain = await raw(body, {});
      assert.equal(plain.headers['content-encoding'], undefined);
      assert.equal(plain.headers.vary, 'Accept-Encoding');
      const gzip = await raw(body, { 'Accept-Encoding': 'br;q=0.5, gzip' });
      assert.equal(gzip.headers['content-encoding'], 'gzip');
      assert.equal(gzip.headers.vary, 'Accept-Encoding');
      assert.ok(gunzipSync(gzip.bytes).equals(plain.bytes));
      assert.ok(gzip.bytes.length < plain.bytes.length / 2);
      const br = await raw(body, { 'Accept-Encoding': 'br' });
      assert.equal(br.headers['content-encoding'], 'br');
      assert.ok(brotliDecompressSync(br.bytes, { finishFlush: constants.BROTLI_OPERATION_FLUSH }).equals(plain.bytes));
    });

  it('is omitted if the response is short', async () => {
    const { headers } = await raw({ ...LIST, method: 'ping' }, { 'Accept-Encoding': 'gzip' });
    assert.equal(headers['content-encoding'], undefined);
    assert.equal(headers.vary, undefined);
  });

  it('adds Accept-Encoding to the header Vary, together with Origin if a page makes the call', async () => {
    const { headers } = await raw(LIST, { Origin: 'https://console.example' });
    assert.equal(headers.vary, 'Origin, Accept-Encoding');
  });

  it('is reversed by fetch, which accepts compressed responses by default', async () => {
    const response = await fetch(`${endpoint.url}/mcp`, {
      method: 'POST',
      headers: HEADERS,
      body: JSON.stringify(LIST),
    });
    assert.equal(response.headers.get('content-encoding'), 'gzip');
    assert.match(await response.text(), /Many words that are listed/);
  });
});
