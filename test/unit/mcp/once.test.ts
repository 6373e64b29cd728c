/** Compares responses that bypass the SDK's HTTP handling with the responses of the SDK. */
import assert from 'node:assert/strict';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import { Catalogs } from '../../../functions/src/mcp/catalog.ts';
import { counterToolset, systemToolset } from '../../support/fixture-toolset.ts';
import {
  JSON_BY_LEADER,
  LEADER,
  MODERN_META,
  memoryPorts,
  type RunningEndpoint,
  serveEndpoint,
} from '../../support/mcp-endpoint.ts';
import { everywhere } from '../../support/principals.ts';

const VERSION = '2026-07-28';
const HEADERS = { ...JSON_BY_LEADER, Accept: 'application/json, text/event-stream' };

describe('tool list that is serialized in advance', () => {
  const toolsets = [systemToolset, counterToolset(new Map())];
  let endpoint: RunningEndpoint;

  before(async () => {
    endpoint = await serveEndpoint({ ...memoryPorts(), toolsets });
  });

  after(() => endpoint.close());

  /** A server that uses the SDK's own serialization. */
  const plain = createMcpHandler(() => {
    const selection = { toolsets: ['system', 'coordination'], readonly: false, workspace: undefined };
    const catalog = new Catalogs(toolsets).of({ ...selection, dialect: 'prefixed', listing: 'light' });
    const { instructions } = catalog;
    const { tools } = catalog.listFor(everywhere(LEADER.maxRole), 'agent');
    const cacheHints = { 'tools/list': { ttlMs: 300_000, cacheScope: 'private' } } as const;
    const identity = { name: 'muster', title: 'Muster', version: '0.0.0' };
    const server = new Server(identity, { capabilities: { tools: {} }, instructions, cacheHints });
    // The SDK's types require known properties, but these JSON Schemas come from zod.
    server.setRequestHandler('tools/list', () => ({ tools: JSON.parse(JSON.stringify(tools)) }));
    return server;
  });

  async function ours(message: object, headers: Record<string, string>, path = ''): Promise<string> {
    const init = { method: 'POST', headers: { ...HEADERS, ...headers }, body: JSON.stringify(message) };
    return (await fetch(`${endpoint.url}/mcp${path}`, init)).text();
  }

  async function theirs(message: object, headers: Record<string, string>): Promise<string> {
    const init = { method: 'POST', headers: { ...HEADERS, ...headers }, body: JSON.stringify(message) };
    const text = await (await plain.fetch(new Request('http://localhost/mcp', init))).text();
    return text.startsWith('event: message\ndata: ') ? text.slice('event: message\ndata: '.length).trimEnd() : text;
  }

  for (const id of [1, 'a', '"tools":[]', '\\"tools\\":[]']) {
    it(`is identical to the SDK's response in the 2025 revisions (id ${JSON.stringify(id)})`, async () => {
      for (const params of [undefined, {}, { _meta: { progressToken: 1, '"tools":[]': [] } }]) {
        const message = { jsonrpc: '2.0', id, method: 'tools/list', ...(params && { params }) };
        const answer = await ours(message, {});
        assert.equal(answer, await theirs(message, {}));
        assert.match(answer, /system_echo/);
      }
      const ping = { jsonrpc: '2.0', id, method: 'ping' };
      assert.equal(await ours(ping, {}), await theirs(ping, {}));
    });

    it(`is identical to the SDK's response in the revision 2026-07-28 (id ${JSON.stringify(id)})`, async () => {
      const message = { jsonrpc: '2.0', id, method: 'tools/list', params: { _meta: MODERN_META } };
      const headers = { 'MCP-Protocol-Version': VERSION, 'Mcp-Method': 'tools/list' };
      const answer = await ours(message, headers);
      assert.equal(answer, await theirs(message, headers));
      assert.match(answer, /system_echo.*"ttlMs":300000/);
    });
  }

  it('depends on the path, even if the id is the same', async () => {
    const paths = ['', '/coordination', '', '/coordination/readonly'];
    const lists = await Promise.all(
      paths.map((path) => ours({ jsonrpc: '2.0', id: 1, method: 'tools/list' }, {}, path)),
    );
    assert.deepEqual([lists[0] === lists[2], new Set(lists).size], [true, 3]);
  });

  it('is not contained in error responses', async () => {
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { cursor: 'x' } };
    assert.match(await ours(message, {}), /^\{"jsonrpc":"2.0","id":1,"error":\{"code":-32602/);
  });
});

describe('simple call', () => {
  const ports = memoryPorts();
  let endpoint: RunningEndpoint;

  before(async () => {
    const toolsets = [systemToolset, counterToolset(new Map())];
    endpoint = await serveEndpoint({ ...ports, randomness: { ...ports.randomness, uuid: () => 'r' }, toolsets });
  });

  after(() => endpoint.close());

  /** Returns the name in another encoding with the same meaning. Only the SDK decodes that encoding. */
  const encoded = (name: string) => `=?base64?${Buffer.from(name).toString('base64')}?=`;

  async function send(params: object, headers: Record<string, string>): Promise<string[]> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 'x', method: 'tools/call', params });
    const response = await fetch(`${endpoint.url}/mcp`, { method: 'POST', headers: { ...HEADERS, ...headers }, body });
    return [String(response.status), response.headers.get('content-type') ?? '', await response.text()];
  }

  function answer(params: { name: string; arguments?: unknown }, nameHeader: string): Promise<string[]> {
    const headers = { 'MCP-Protocol-Version': VERSION, 'Mcp-Method': 'tools/call', 'Mcp-Name': nameHeader };
    return send({ ...params, _meta: MODERN_META }, headers);
  }

  for (const [what, params] of [
    ['a result', { name: 'system_echo', arguments: { text: 'a', data: { b: 'é' } } }],
    ['a rejection', { name: 'system_echo', arguments: { text: 5 } }],
    ['an unexpected error', { name: 'coordination_fail', arguments: { how: 'unforeseen' } }],
    ['an unknown tool', { name: 'nope' }],
    ['arguments that are a list', { name: 'system_echo', arguments: [] }],
  ] as const)
    it(`gets a response identical to the SDK's: ${what}`, async () => {
      assert.deepEqual(await answer(params, params.name), await answer(params, encoded(params.name)));
      for (const version of ['2025-03-26', '2025-11-25']) {
        // The SDK sends the response if the params have unusual members.
        const headers = { 'MCP-Protocol-Version': version };
        assert.deepEqual(await send(params, headers), await send({ ...params, unusual: 1 }, headers));
      }
    });

  it('is rejected by the SDK if its headers do not match its body', async () => {
    const params = { name: 'system_echo', arguments: { text: 'a', data: 1 } };
    const [status, , text] = await answer(params, 'system_other');
    assert.equal(status, '400');
    assert.match(text ?? '', /-32020/);
  });
});
