/**
 * `/mcp/events`: the `firebase.event` notifications of one subscription as server-sent events, with cursors as
 * their ids. Source: docs/guides/events.md#server-sent-events; spec/network.md, "firebase.subscribe".
 */

import type { IncomingHttpHeaders } from 'node:http';
import { MusterError } from '../../kernel/errors.ts';
import type { ReadFrom, Reading } from '../../toolsets/firebase/rules/page.ts';
import { EVENT_METHOD, notificationOf } from '../../toolsets/firebase/rules/subscription.ts';
import { errorObject, presentable } from '../errorEnvelope.ts';
import { observe } from '../observation.ts';
import type { Exchange } from '../requestContext.ts';
import { frameOf, KEEP_ALIVE_FRAME, retryFrame } from './http.ts';
import { Stream, type StreamPorts, withPauses } from './streams.ts';

/** The stream's name in the log. */
const NAME = 'firebase.events';

const RETRY_MS = 1000;

/**
 * Which subscription is asked for, and from where: what the client has received last goes before what its URL
 * says, since a client that comes back has both.
 * @throws MusterError REQUIRED_FIELD
 */
export function readFromOf(query: URLSearchParams, headers: IncomingHttpHeaders): ReadFrom {
  const subscriptionId = query.get('subscriptionId') ?? '';
  if (subscriptionId === '') {
    throw new MusterError('REQUIRED_FIELD', 'The query names no subscription.', {
      field: 'subscriptionId',
      reason: 'MISSING',
      suggestion: 'Add ?subscriptionId=… with the id that you gave to firebase.subscribe.',
    });
  }
  const received = headers['last-event-id'];
  const cursor = typeof received === 'string' && received !== '' ? received : query.get('cursor');
  return { subscriptionId, cursor: cursor || undefined };
}

/**
 * Finds the subscription, and then makes the frames of its stream.
 * @throws MusterError as its caller may see it, where there is nothing to stream
 */
export async function openEvents(
  ports: StreamPorts,
  exchange: Exchange,
  from: ReadFrom,
): Promise<AsyncIterable<string>> {
  const observation = observe(ports, exchange, NAME);
  const stream = new Stream(ports, exchange, NAME);
  try {
    await stream.admit();
    const first = await ports.services().subscriptions.poll(exchange, from, 0, stream.end);
    return frames(ports, exchange, stream, from.subscriptionId, first);
  } catch (error) {
    observation.error = presentable(error, exchange.requestId, NAME, ports.log);
    stream.close();
    throw observation.error;
  } finally {
    await observation.end();
  }
}

async function* frames(
  ports: StreamPorts,
  exchange: Exchange,
  stream: Stream,
  subscriptionId: string,
  first: Reading,
): AsyncGenerator<string, void, undefined> {
  try {
    yield retryFrame(RETRY_MS);
    yield* framesOf(subscriptionId, first);
    const { cursor } = first;
    const readings = ports.services().subscriptions.follow(exchange, { subscriptionId, cursor }, stream.end);
    for await (const reading of withPauses(readings, ports.streams.keepAliveMs)) {
      if (reading === undefined) {
        yield KEEP_ALIVE_FRAME;
        continue;
      }
      await stream.authenticateAgain();
      yield* framesOf(subscriptionId, reading);
    }
  } catch (error) {
    const shown = stream.fail(error);
    if (shown === undefined) return;
    const data = JSON.stringify({ jsonrpc: '2.0', id: null, error: errorObject(shown) });
    yield frameOf({ event: 'error', data });
  } finally {
    stream.close();
  }
}

function* framesOf(subscriptionId: string, { events, cursor: end, overflow }: Reading): Generator<string> {
  if (overflow) {
    // Where events follow, the first of them says where to go on.
    const id = events.length === 0 ? { id: end } : {};
    yield frameOf({ event: 'overflow', ...id, data: JSON.stringify({ subscriptionId }) });
  }
  for (const { cursor, event } of events) {
    const message = { jsonrpc: '2.0', method: EVENT_METHOD, params: notificationOf(event) };
    yield frameOf({ id: cursor, data: JSON.stringify(message) });
  }
}
