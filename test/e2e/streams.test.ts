/**
 * Event streams of the deployed functions. The requests of one client may reach different instances. Other tests:
 * `unit/mcp/{events,eventsEnds,streams,listen}` for frames, errors, listeners; `integration/subscriptions` for logs.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { registerAgent, type TestAgent } from './support/agents.ts';
import { isRecord } from './support/clients.ts';
import { endpointUrl } from './support/endpoint.ts';
import { type EventStream, eventIn, type Frame, openEvents } from './support/eventStream.ts';
import { post } from './support/http.ts';

type Fields = Readonly<Record<string, unknown>>;

describe("a subscription's event stream", () => {
  let agent: TestAgent;
  const streams: EventStream[] = [];

  before(async () => {
    agent = await registerAgent('streams');
  });

  afterEach(() => Promise.all(streams.splice(0).map((stream) => stream.close())));

  async function rpc(method: string, params: Fields): Promise<Fields> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const { json, text } = await post(endpointUrl('/rpc'), agent.token, body);
    assert.ok(isRecord(json) && isRecord(json['result']), text);
    return json['result'];
  }

  /** Subscribes to additions at a path that no other test uses. */
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
      assert.ok(frame, 'the stream ended before the expected events');
      if (eventIn(frame) !== undefined) frames.push(frame);
    }
    return frames;
  }

  const keysOf = (frames: readonly Frame[]) => frames.map((frame) => eventIn(frame)?.['key']);

  it("continues after the client's last event, without gaps or duplicates, on any instance", async () => {
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
});
