/** Streams through the functions emulator, where every request may meet another instance. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { registerAgent, type TestAgent } from './support/agents.ts';
import { isRecord } from './support/clients.ts';
import { endpointUrl, MCP_URL } from './support/endpoint.ts';
import { type EventStream, eventIn, type Frame, openEvents } from './support/eventStream.ts';
import { headersFor, post, send } from './support/http.ts';
import { eventually } from './support/waiting.ts';

type Fields = Readonly<Record<string, unknown>>;

const MODERN = '2026-07-28';

describe('streams', () => {
  let agent: TestAgent;
  const streams: EventStream[] = [];

  before(async () => {
    agent = await registerAgent('streams');
  });

  afterEach(async () => {
    await Promise.all(streams.splice(0).map((stream) => stream.close()));
  });

  async function rpc(method: string, params: Fields): Promise<Fields> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const { json, text } = await post(endpointUrl('/rpc'), agent.token, body);
    assert.ok(isRecord(json) && isRecord(json['result']), text);
    return json['result'];
  }

  /** Subscribes to what is added at a path of its own. */
  async function subscribe(): Promise<{ subscriptionId: string; path: string }> {
    const subscriptionId = `streams-${randomUUID()}`;
    const path = `shared/${subscriptionId}`;
    const eventType = 'child_added';
    await rpc('firebase.subscribe', { subscriptionId, database: 'realtime', path, eventType });
    return { subscriptionId, path };
  }

  const add = (path: string, ...numbers: readonly number[]): Promise<unknown> =>
    Promise.all(
      numbers.map((number) =>
        rpc('firebase.write', { database: 'realtime', path: `${path}/n${number}`, data: { number } }),
      ),
    );

  async function open(subscriptionId: string, lastEventId?: string): Promise<EventStream> {
    const stream = await openEvents(agent.token, { subscriptionId, ...(lastEventId && { lastEventId }) });
    streams.push(stream);
    return stream;
  }

  async function take(stream: EventStream, count: number): Promise<Frame[]> {
    const frames: Frame[] = [];
    while (frames.length < count) {
      const frame = await stream.next();
      assert.ok(frame, 'the stream goes on');
      if (eventIn(frame) !== undefined) frames.push(frame);
    }
    return frames;
  }

  const keysOf = (frames: readonly Frame[]) => frames.map((frame) => eventIn(frame)?.['key']);

  it('resume at another instance without a gap and without a repetition', async () => {
    const { subscriptionId, path } = await subscribe();
    await add(path, 1, 2, 3);
    const first = await take(await open(subscriptionId), 3);
    assert.deepEqual(keysOf(first).sort(), ['n1', 'n2', 'n3']);
    await streams.pop()?.close();
    await add(path, 4, 5);
    const last = first.at(-1)?.id;
    assert.ok(last);
    const second = await open(subscriptionId, last);
    const missed = await take(second, 2);
    assert.deepEqual(keysOf(missed).sort(), ['n4', 'n5']);
    await add(path, 6);
    assert.deepEqual(keysOf(await take(second, 1)), ['n6']);
    const again = await take(await open(subscriptionId, first[0]?.id), 5);
    assert.deepEqual(keysOf(again), keysOf([...first.slice(1), ...missed, ...again.slice(4)]));
  });

  for (const era of ['2025', MODERN]) {
    it(`carry events to who waits for them, before the answer (${era})`, async () => {
      const { subscriptionId, path } = await subscribe();
      const polling = poll(era, { subscriptionId, waitMs: 20_000 });
      await add(path, 1);
      const { type, messages } = await polling;
      assert.equal(type, 'text/event-stream');
      const [notification, answer, ...others] = messages;
      assert.deepEqual(others, []);
      assert.equal(notification?.['method'], 'firebase.event');
      const result = answer?.['result'];
      assert.ok(isRecord(result) && isRecord(result['structuredContent']));
      assert.deepEqual(result['structuredContent']['events'], [notification?.['params']]);
    });
  }

  async function poll(era: string, args: Fields) {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': MODERN,
      'io.modelcontextprotocol/clientCapabilities': {},
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    };
    const modern = era === MODERN;
    const name = 'firebase_pollEvents';
    const params = { name, arguments: args, ...(modern && { _meta: meta }) };
    const { headers, text } = await post(
      MCP_URL,
      agent.token,
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
      modern ? { 'MCP-Protocol-Version': MODERN, 'Mcp-Method': 'tools/call', 'Mcp-Name': name } : {},
    );
    const frames = text.split('\n\n').filter((frame) => frame.startsWith('event: message\n'));
    const messages = frames.map((frame): Fields => JSON.parse(frame.slice('event: message\ndata: '.length)));
    return { type: headers.get('content-type'), messages };
  }

  it('tell a client of 2026-07-28 what is new in a resource, and let it read that', async () => {
    const { subscriptionId, path } = await subscribe();
    const uri = `firebase://subscriptions/${subscriptionId}`;
    const client = new Client(
      { name: 'muster-e2e', version: '1.0.0' },
      { versionNegotiation: { mode: { pin: MODERN } } },
    );
    const updated: string[] = [];
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      updated.push(params.uri);
    });
    const requestInit = { headers: { Authorization: `Bearer ${agent.token}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(MCP_URL), { requestInit }));
    const { resourceTemplates } = await client.listResourceTemplates();
    assert.ok(
      resourceTemplates.some(
        ({ uriTemplate }) => uriTemplate === 'firebase://subscriptions/{subscriptionId}',
      ),
    );
    const unknown = 'firebase://subscriptions/no-such';
    const { honoredFilter } = await client.listen({ resourceSubscriptions: [uri, unknown] });
    assert.deepEqual(honoredFilter, { resourceSubscriptions: [uri] });
    await add(path, 1);
    await eventually('the client is told', async () => updated.includes(uri) || undefined);
    const { contents } = await client.readResource({ uri });
    const [content] = contents;
    assert.ok(content && 'text' in content);
    const { events } = JSON.parse(content.text);
    assert.deepEqual(
      events.map(({ key }: { key: string }) => key),
      ['n1'],
    );
    await assert.rejects(client.readResource({ uri: unknown }), /no such subscription/);
    await client.close();
  });

  it('are refused before they begin', async () => {
    const url = (query: Record<string, string>) => endpointUrl('/events', query);
    const { subscriptionId } = await subscribe();
    const headers = { ...headersFor(agent.token), Accept: 'text/event-stream' };
    for (const [query, status, more] of [
      [{ subscriptionId: 'no-such' }, 404, {}],
      [{ subscriptionId: '../../x' }, 404, {}],
      [{}, 400, {}],
      [{ subscriptionId, cursor: 'nonsense' }, 400, {}],
      [{ subscriptionId }, 400, { 'Last-Event-ID': '9'.repeat(4000) }],
      [{ subscriptionId }, 401, { Authorization: 'Bearer nonsense' }],
      [{ subscriptionId }, 403, { Origin: 'https://evil.example' }],
    ] as const) {
      const answer = await send(url(query), { headers: { ...headers, ...more } });
      assert.equal(answer.status, status, `${JSON.stringify(query)} ${answer.text}`);
      assert.ok(isRecord(answer.json) && isRecord(answer.json['error']), answer.text);
    }
    const posted = await post(url({ subscriptionId }), agent.token, '{}');
    assert.equal(posted.status, 405);
    assert.equal(posted.headers.get('allow'), 'GET');
  });
});
