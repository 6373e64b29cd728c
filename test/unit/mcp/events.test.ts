/** The event stream `/mcp/events` over HTTP, with the event log in memory. */
import assert from 'node:assert/strict';
import { eventually } from '../../e2e/support/waiting.ts';
import type { MemoryEventLog } from '../../support/event-log.ts';
import { type Asked, dataOf, EventsStage } from './eventsFixture.ts';
import { UID } from './logFixture.ts';

describe('/mcp/events', () => {
  const fixture = new EventsStage();

  it("sends each event as the specified notification, with the event's cursor", async () => {
    fixture.log.add(UID, fixture.subscriptionId, { id: 'task-456' });
    const stream = await fixture.open();
    assert.equal(stream.response.headers.get('content-type'), 'text/event-stream');
    assert.equal(stream.response.headers.get('cache-control'), 'no-cache, no-transform');
    const [frame] = await stream.take(1);
    assert.equal(frame?.id, '1');
    assert.equal(frame?.event, undefined);
    assert.deepEqual(JSON.parse(frame?.data ?? ''), {
      jsonrpc: '2.0',
      method: 'firebase.event',
      params: {
        subscriptionId: fixture.subscriptionId,
        eventType: 'child_added',
        data: { id: 'task-456' },
        key: 'k',
        timestamp: '2025-11-03T10:40:00.000Z',
      },
    });
  });

  it('sends the existing events first and then new ones, in order', async () => {
    fixture.log.add(UID, fixture.subscriptionId, 1, 2, 3, 4, 5);
    const stream = await fixture.open();
    assert.deepEqual((await stream.take(5)).map(dataOf), [1, 2, 3, 4, 5]);
    await eventually('the stream follows the log', async () => fixture.log.following > 0 || undefined);
    fixture.log.add(UID, fixture.subscriptionId, 6);
    fixture.log.add(UID, fixture.subscriptionId, 7, 8);
    const frames = await stream.take(3);
    assert.deepEqual(frames.map(dataOf), [6, 7, 8]);
    const ids = frames.map(({ id }) => id);
    assert.deepEqual(ids, ['6', '7', '8']);
  });

  it('sends one valid frame per event for any event data', async () => {
    const data = ['a\nb', '\r\n\r\n', 'data: x\n\nid: 9\n\n', '\u2028\u2029\u0085', '😀é', '', { 'a\nb': ['\n'] }];
    fixture.log.add(UID, fixture.subscriptionId, ...data);
    const stream = await fixture.open();
    const frames = await stream.take(data.length);
    assert.deepEqual(frames.map(dataOf), data);
    for (const frame of frames) assert.deepEqual(Object.keys(frame).sort(), ['data', 'id']);
  });

  it('resumes after Last-Event-ID; without this header, after the cursor or at the start', async () => {
    fixture.log.add(UID, fixture.subscriptionId, 1, 2, 3);
    const first = async (asked: Asked) => dataOf((await (await fixture.open(asked)).take(1))[0] ?? {});
    assert.equal(await first({ query: { cursor: '1' }, headers: { 'Last-Event-ID': '2' } }), 3);
    assert.equal(await first({ query: { cursor: '1' } }), 2);
    assert.equal(await first({ query: { cursor: '1' }, headers: { 'Last-Event-ID': '' } }), 2);
    assert.equal(await first({ query: { cursor: '' } }), 1);
    assert.equal(await first({}), 1);
  });

  it('neither loses nor repeats an event over many resumptions', async () => {
    const all = Array.from({ length: 40 }, (_, number) => number);
    fixture.log.add(UID, fixture.subscriptionId, ...all);
    const received: unknown[] = [];
    let last = '';
    while (received.length < all.length) {
      const stream = await fixture.open({ headers: { 'Last-Event-ID': last } });
      const frames = await stream.take(Math.min(1 + (received.length % 5), all.length - received.length));
      stream.close();
      received.push(...frames.map(dataOf));
      last = frames.at(-1)?.id ?? '';
    }
    assert.deepEqual(received, all);
  });

  it('reports deleted events with an event of the type overflow', async () => {
    fixture.log.add(UID, fixture.subscriptionId, 1, 2, 3);
    fixture.log.drop(UID, fixture.subscriptionId, 2);
    const [overflow, event] = await (await fixture.open()).take(2);
    assert.deepEqual(overflow, { event: 'overflow', data: JSON.stringify({ subscriptionId: fixture.subscriptionId }) });
    assert.equal(dataOf(event ?? {}), 3);
    fixture.log.drop(UID, fixture.subscriptionId, 3);
    const [alone] = await (await fixture.open()).take(1);
    assert.deepEqual(alone, {
      event: 'overflow',
      id: '3',
      data: JSON.stringify({ subscriptionId: fixture.subscriptionId }),
    });
  });

  it('sends comments while there are no events, so that the agent stays online', async () => {
    const quick = await fixture.serve({ streams: { lifetimeMs: 60_000, keepAliveMs: 20 } });
    fixture.ports.seen.length = 0;
    const stream = await fixture.open({ at: quick });
    assert.deepEqual(await stream.take(3), Array(3).fill({ comment: 'keep-alive' }));
    await eventually('the agent is seen again', async () => fixture.ports.seen.length >= 3 || undefined);
    fixture.log.add(UID, fixture.subscriptionId, 1);
    let frame = await stream.next();
    while (frame?.comment !== undefined) frame = await stream.next();
    assert.equal(dataOf(frame ?? {}), 1);
  });

  it('stops reading the event log when the client disconnects', async () => {
    const stream = await fixture.open();
    await eventually('the stream follows the log', async () => fixture.log.following === 1 || undefined);
    stream.close();
    await eventually('the stream stopped reading', async () => fixture.log.following === 0 || undefined);
  });

  it('refuses the 21st concurrent stream of a caller until another stream is closed', async () => {
    const open = await Promise.all(Array.from({ length: 20 }, () => fixture.open()));
    const { response } = await fixture.ask();
    assert.equal(response.status, 429);
    const { error } = (await response.json()) as { error: { message: string } };
    assert.match(error.message, /20 open streams/);
    open[0]?.close();
    await eventually('a stream opens', async () => (await fixture.ask()).response.status === 200 || undefined);
  });

  it('stops reading the event log while the client is slow, and resumes later', async () => {
    fixture.log.add(UID, fixture.subscriptionId, ...Array.from({ length: 60 }, () => 'x'.repeat(1_000_000)));
    let pages = 0;
    const counting = {
      poll: fixture.log.poll.bind(fixture.log),
      async *follow(...args: Parameters<MemoryEventLog['follow']>) {
        for await (const reading of fixture.log.follow(...args)) {
          pages += 1;
          yield reading;
        }
      },
    };
    const at = await fixture.serve({ services: () => ({ subscriptions: counting }) as never });
    const stream = await fixture.open({ at });
    // The client does not read yet, so the events fill only the buffers of the connection.
    let seen = -1;
    await eventually('the stream pauses', async () => {
      if (pages === seen && pages > 0) return true;
      seen = pages;
      return undefined;
    });
    assert.ok(pages < 28, `${pages} of 30 pages of 2 MB were read ahead`);
    for (let taken = 0; pages === seen; taken += 1) {
      assert.ok(taken < 60, 'the stream does not continue');
      await stream.take(1);
    }
  });
});
