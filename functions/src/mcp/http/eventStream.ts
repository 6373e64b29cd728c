/** `/mcp/events`: what a toolset's event source has, as server-sent events. */

import { errorObject, presentable } from '../errorEnvelope.ts';
import { observe } from '../observation.ts';
import type { RequestContext } from '../requestContext.ts';
import type { EventSource, OpenEvents } from '../tool.ts';
import { frameOf, KEEP_ALIVE_FRAME, retryFrame } from './http.ts';
import { Stream, type StreamPorts, withPauses } from './streams.ts';

const RETRY_MS = 1000;

/**
 * Opens the source, and then makes the frames of its stream.
 * @throws MusterError as its caller may see it, where there is nothing to stream
 */
export async function openEvents(
  ports: StreamPorts,
  requestContext: RequestContext,
  { name }: EventSource,
  open: OpenEvents,
): Promise<AsyncIterable<string>> {
  const observation = observe(ports, requestContext, name);
  const stream = new Stream(ports, requestContext, name);
  try {
    await stream.admit();
    return frames(ports, stream, await open(ports.services(), requestContext, stream.end));
  } catch (error) {
    observation.error = presentable(error, requestContext.requestId, name, ports.log);
    stream.close();
    throw observation.error;
  } finally {
    await observation.end();
  }
}

async function* frames(
  ports: StreamPorts,
  stream: Stream,
  { first, following }: Awaited<ReturnType<OpenEvents>>,
): AsyncGenerator<string, void, undefined> {
  try {
    yield retryFrame(RETRY_MS);
    yield* first.map(frameOf);
    for await (const events of withPauses(following, ports.streams.keepAliveMs)) {
      if (events === undefined) {
        yield KEEP_ALIVE_FRAME;
        continue;
      }
      await stream.authenticateAgain();
      yield* events.map(frameOf);
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
