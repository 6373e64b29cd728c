/** Notifications during calls, and resource templates, in both protocol revisions over HTTP. */
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { eventually } from '../../e2e/support/waiting.ts';
import {
  JSON_BY_LEADER,
  MODERN_META,
  memoryPorts,
  type RunningEndpoint,
  serveEndpoint,
} from '../../support/mcp-endpoint.ts';
import { streamingToolset, type Told } from '../../support/streaming-toolset.ts';

const VERSION = '2026-07-28';

type Json = Record<string, unknown>;

const ERAS = ['2025', VERSION] as const;

describe('MCP over HTTP', () => {
  const ports = memoryPorts();
  const reported: Told = { waiting: 0, missing: 0 };
  let endpoint: RunningEndpoint;

  before(async () => {
    endpoint = await serveEndpoint({ ...ports, toolsets: [streamingToolset(reported)] });
  });

  after(() => endpoint.close());

  function requestOf(era: (typeof ERAS)[number], method: string, params: Json, accept: string) {
    const modern = era === VERSION;
    const name = params['name'] ?? params['uri'];
    const headers: Record<string, string> = {
      ...JSON_BY_LEADER,
      Accept: accept,
      ...(modern && { 'MCP-Protocol-Version': VERSION, 'Mcp-Method': method }),
      ...(modern && typeof name === 'string' && { 'Mcp-Name': name }),
    };
    const meta = { _meta: { ...(modern && MODERN_META), ...(params['_meta'] as Json | undefined) } };
    return { headers, body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params: { ...params, ...meta } }) };
  }

  const BOTH = 'application/json, text/event-stream';

  async function send(era: (typeof ERAS)[number], method: string, params: Json, accept = BOTH) {
    return fetch(`${endpoint.url}/mcp`, { method: 'POST', ...requestOf(era, method, params, accept) });
  }

  const tell = (era: (typeof ERAS)[number], args: Json, accept?: string) =>
    send(era, 'tools/call', { name: 'firebase_tell', arguments: args }, accept);

  for (const era of ERAS) {
    it(`sends the notifications of a call before the response (${era})`, async () => {
      const texts = ['a', 'two\nlines\r\n', 'data: x\n\n', '\u2028 é 😀', ''];
      const response = await tell(era, { texts });
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('content-type'), 'text/event-stream');
      assert.match(response.headers.get('cache-control') ?? '', /no-cache/);
      const messages = messagesOf(await response.text());
      const expected = texts.map((text) => ({ jsonrpc: '2.0', method: 'firebase.event', params: { text } }));
      assert.deepEqual(messages.slice(0, -1), expected);
      const { id, result } = messages.at(-1) ?? {};
      assert.equal(id, 7);
      assert.deepEqual((result as Json)['structuredContent'], { reported: texts.length });
    });

    it(`reports the progress of a call to a client that sends a progress token (${era})`, async () => {
      const call = { name: 'firebase_tell', arguments: { stages: 2 } };
      const unasked = await send(era, 'tools/call', call);
      assert.equal(unasked.headers.get('content-type'), 'application/json');
      for (const progressToken of ['a call', 7]) {
        const response = await send(era, 'tools/call', { ...call, _meta: { progressToken } });
        const messages = messagesOf(await response.text());
        assert.deepEqual(
          messages.slice(0, -1),
          [1, 2].map((progress) => ({
            jsonrpc: '2.0',
            method: 'notifications/progress',
            params: { progressToken, progress, message: `Stage ${progress}` },
          })),
        );
      }
    });

    it(`returns a plain JSON response if a call sends no notifications (${era})`, async () => {
      const response = await tell(era, {});
      assert.equal(response.headers.get('content-type'), 'application/json');
      assert.deepEqual(((await response.json()) as { result: Json }).result['structuredContent'], { reported: 0 });
    });

    it(`sends notifications only with the argument for which a tool declares them (${era})`, async () => {
      for (const [stages, type] of [
        [1, 'text/event-stream'],
        [0, 'application/json'],
      ] as const) {
        const call = { name: 'firebase_report', arguments: { stages, texts: ['a'] } };
        assert.equal((await send(era, 'tools/call', call)).headers.get('content-type'), type);
      }
    });

    it(`notifies a tool when its client disconnects (${era})`, async () => {
      for (const texts of [[], ['a']]) {
        const { waiting, missing: gone } = reported;
        const { headers, body } = requestOf(
          era,
          'tools/call',
          { name: 'firebase_tell', arguments: { texts, stay: true } },
          BOTH,
        );
        const socket = await sendRaw(endpoint.url, headers, body);
        await eventually('the tool waits', async () => reported.waiting > waiting || undefined);
        assert.equal(reported.missing, gone);
        socket.destroy();
        await eventually('the tool is notified', async () => reported.missing > gone || undefined);
      }
    });

    it(`lists resource templates and returns resources whose URI matches a template (${era})`, async () => {
      const listed = (await (await send(era, 'resources/templates/list', {})).json()) as { result: Json };
      const [book, ...others] = listed.result['resourceTemplates'] as Json[];
      assert.equal(others.length, 1);
      assert.deepEqual(book, {
        uriTemplate: 'firebase://shelves/{shelf}/books/{book}',
        name: 'book',
        title: 'Book',
        description: 'A book on a shelf.',
        mimeType: 'application/json',
      });
      const uri = 'firebase://shelves/a%20b/books/%C3%A9';
      const { result } = (await (await send(era, 'resources/read', { uri })).json()) as { result: Json };
      assert.deepEqual(result['contents'], [{ uri, mimeType: 'application/json', text: '{"shelf":"a b","book":"é"}' }]);
    });

    it(`rejects a URI that matches neither a resource nor a template (${era})`, async () => {
      for (const uri of [
        'firebase://shelves/a/books/',
        'firebase://shelves/a/b/books/c',
        'firebase://shelves/a/books/%zz',
        'firebase://shelves/a/books/much-too-long',
        'firebase://shelves/empty/books/b',
        `firebase://shelves/${'a'.repeat(3000)}/books/b`,
        'x',
        '',
      ]) {
        const { error } = (await (await send(era, 'resources/read', { uri })).json()) as { error: Json };
        assert.equal(error['code'], -32602, uri.slice(0, 50));
        assert.deepEqual(Object.keys(error['data'] as Json), ['uri']);
      }
    });
  }

  it('drops notifications if the client does not accept event streams', async () => {
    const response = await tell('2025', { texts: ['a'] }, 'application/json');
    assert.equal(response.headers.get('content-type'), 'application/json');
    const { result } = (await response.json()) as { result: Json };
    assert.deepEqual(result['structuredContent'], { reported: 1 });
    const batch = await fetch(`${endpoint.url}/mcp`, {
      method: 'POST',
      headers: requestOf('2025', 'ping', {}, BOTH).headers,
      body: `[${requestOf('2025', 'tools/call', { name: 'firebase_tell', arguments: { texts: ['a'] } }, BOTH).body}]`,
    });
    assert.equal(((await batch.json()) as Json[]).length, 1);
  });

  it('drops notifications in plain JSON-RPC', async () => {
    const params = { texts: ['a'] };
    const response = await fetch(`${endpoint.url}/mcp/rpc`, {
      method: 'POST',
      headers: requestOf('2025', 'ping', {}, BOTH).headers,
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'firebase.tell', params }),
    });
    assert.deepEqual(await response.json(), { jsonrpc: '2.0', id: 1, result: { reported: 1 } });
  });
});

/** Returns the messages of an event stream that has ended. */
function messagesOf(stream: string): Json[] {
  return stream
    .split('\n\n')
    .filter((frame) => frame !== '')
    .map((frame) => {
      assert.match(frame, /^event: message\ndata: [^\r\n]+$/);
      return JSON.parse(frame.slice('event: message\ndata: '.length)) as Json;
    });
}

/** Sends a request over a connection that the test can close itself. */
function sendRaw(url: string, headers: Record<string, string>, body: string): Promise<Socket> {
  const { hostname, port, host } = new URL(url);
  const lines = Object.entries({ Host: host, ...headers, 'Content-Length': Buffer.byteLength(body) });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => resolve(socket));
    socket.once('error', reject);
    socket.write(`POST /mcp HTTP/1.1\r\n${head}\r\n${body}`);
  });
}
