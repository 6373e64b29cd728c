import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parseMessage } from '../../../functions/src/mcp/http/body.ts';
import { counterToolset, systemToolset } from '../../support/fixture-toolset.ts';
import {
  JSON_BY_LEADER,
  MODERN_META,
  memoryPorts,
  type RunningEndpoint,
  serveEndpoint,
} from '../../support/mcp-endpoint.ts';
import { forAll } from '../../support/properties.ts';

const HEADERS = { ...JSON_BY_LEADER, Accept: 'application/json, text/event-stream' };
const CLIENT = { protocolVersion: '2025-06-18', clientInfo: { name: 'test', version: '1' } };

type Params = Record<string, unknown> | null | undefined;

describe('null as a value in the params of an MCP message', () => {
  const ports = memoryPorts();
  let endpoint: RunningEndpoint;

  before(async () => {
    endpoint = await serveEndpoint({ ...ports, toolsets: [systemToolset, counterToolset(ports.settled)] });
  });

  after(() => endpoint.close());

  async function send(body: unknown, headers: Record<string, string> = {}, path = '/mcp') {
    const init = { method: 'POST', headers: { ...HEADERS, ...headers }, body: JSON.stringify(body) };
    const response = await fetch(endpoint.url + path, init);
    return { status: response.status, text: await response.text() };
  }

  const request = (method: string, params: Params) => ({
    jsonrpc: '2.0',
    id: 1,
    method,
    ...(params !== undefined && { params }),
  });

  const cases: readonly (readonly [string, Params, Params])[] = [
    ['ping', undefined, null],
    ['ping', undefined, { _meta: null }],
    ['tools/list', undefined, null],
    ['tools/list', undefined, { _meta: null, cursor: null }],
    ['tools/list', undefined, { _meta: { progressToken: null } }],
    ['resources/list', undefined, null],
    ['resources/templates/list', undefined, { cursor: null }],
    ['resources/read', { uri: 'x://none' }, { uri: 'x://none', _meta: null }],
    ['resources/read', undefined, { uri: null }],
    ['prompts/list', undefined, null],
    ['prompts/get', { name: 'x' }, { name: 'x', arguments: null, _meta: null }],
    ['no/such', undefined, null],
    ['initialize', { ...CLIENT, capabilities: {} }, { ...CLIENT, capabilities: { roots: null }, _meta: null }],
    ['tools/call', undefined, null],
    ['tools/call', { name: 'system_echo', arguments: {} }, { name: 'system_echo', arguments: null }],
    ['tools/call', { name: 'coordination_increment' }, { name: 'coordination_increment', arguments: null }],
    [
      'tools/call',
      { name: 'system_echo', arguments: { text: 'a' } },
      { name: 'system_echo', arguments: '{"text":"a"}', _meta: { progressToken: null } },
    ],
  ];

  for (const [method, left, sent] of cases)
    it(`is treated as absent in ${method}: ${JSON.stringify(sent)}`, async () => {
      const withoutCount = (text: string) => text.replace(/(count\D+)\d+/g, '$1');
      const [wanted, given] = [await send(request(method, left)), await send(request(method, sent))];
      assert.deepEqual([given.status, withoutCount(given.text)], [wanted.status, withoutCount(wanted.text)]);
      if (method === 'initialize') return;
      const name = sent?.['name'];
      const headers = {
        'MCP-Protocol-Version': '2026-07-28',
        'Mcp-Method': method,
        ...(typeof name === 'string' && { 'Mcp-Name': name }),
      };
      const modern = (params: Params) => request(method, { ...params, _meta: { ...MODERN_META, progressToken: null } });
      const later = [await send(modern(left), headers), await send(modern(sent), headers)];
      assert.equal(withoutCount(later[1]?.text ?? ''), withoutCount(later[0]?.text ?? ''));
      assert.doesNotMatch(later[1]?.text ?? '', /received null/);
    });

  it('is treated as absent in notifications and in each message of a batch', async () => {
    const notification = { jsonrpc: '2.0', method: 'notifications/initialized', params: null };
    assert.deepEqual(await send(notification), { status: 202, text: '' });
    const { status, text } = await send([notification, request('ping', null)]);
    assert.deepEqual([status, JSON.parse(text)], [200, [{ jsonrpc: '2.0', id: 1, result: {} }]]);
  });

  it('is treated as absent at /mcp/rpc', async () => {
    const call = request('coordination.increment', null);
    for (const body of [call, { ...call, params: { _meta: null, idempotency_key: null } }]) {
      const { text } = await send(body, {}, '/mcp/rpc');
      assert.match(text, /"result"/);
    }
    const { text } = await send([call, call], {}, '/mcp/rpc');
    assert.equal(text.split('"result"').length, 3);
  });

  it('is kept in tool arguments, in responses, and in params that are not an object', () => {
    const parse = (message: unknown) => parseMessage(Buffer.from(JSON.stringify(message)));
    const call = request('tools/call', { name: 'x', arguments: { data: { a: null } } });
    assert.deepEqual(parse(call), call);
    const reply = { jsonrpc: '2.0', id: 1, result: { params: null } };
    assert.deepEqual(parse(reply), reply);
    assert.throws(() => parse(request('ping', [] as never)), /"params" must be an object/);
    assert.throws(() => parse(request('ping', { _meta: 5 })), /"params\._meta" must be an object/);
  });

  it('is removed, while all other values are kept', () => {
    const withoutNulls = (value: unknown): unknown =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(
            Object.entries(value)
              .filter(([, one]) => one !== null)
              .map(([name, one]) => [name, withoutNulls(one)]),
          )
        : value;
    forAll(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })), (params) => {
      const { arguments: _, _meta: __, ...others } = JSON.parse(JSON.stringify(params)) as Record<string, unknown>;
      const given = { data: { a: null }, list: [null] };
      const message = request('tools/call', { ...others, arguments: given });
      const parsed = parseMessage(Buffer.from(JSON.stringify(message)));
      assert.deepEqual(parsed, { ...message, params: { ...(withoutNulls(others) as object), arguments: given } });
    });
  });
});
