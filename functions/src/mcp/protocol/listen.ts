/** `subscriptions/listen` of revision 2026-07-28: the SDK sends the events of watched resources from a bus. */
import {
  createMcpHandler,
  type JSONRPCRequest,
  type Server,
  type ServerEvent,
  type ServerEventBus,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { readingContext } from '../call.ts';
import { presentableError } from '../callContext.ts';
import type { RoutedRequest } from '../catalog.ts';
import { openStream, type Stream, type StreamPorts } from '../http/streams.ts';
import type { FoundResource } from '../resources.ts';

export const LISTEN = 'subscriptions/listen';

/** Maximum number of watched resources per request. The acknowledgement lists the resources that are watched. */
const MAX_WATCHED_RESOURCES = 20;
const FILTER = z.looseObject({ notifications: z.looseObject({ resourceSubscriptions: z.array(z.string()) }) });

/**
 * Responds with a stream. Its acknowledgement omits resources that the caller cannot watch.
 * @param asked `request`: the request in the SDK's form; `build`: builds the server whose capabilities the SDK's
 *   handler reads
 */
export function listen(
  ports: StreamPorts,
  routed: RoutedRequest,
  asked: { readonly message: JSONRPCRequest; readonly request: Request; readonly build: () => Server },
): Promise<Response> {
  const { message, request, build } = asked;
  return openStream(ports, routed.requestContext, LISTEN, async (stream) => {
    const filter = FILTER.safeParse(message.params);
    const wanted = filter.success ? filter.data.notifications.resourceSubscriptions : [];
    const watches = await openWatches(ports, stream, routed, wanted);
    // The SDK subscribes once, or not at all if it rejects the request or acknowledges nothing.
    let isSubscribed = false;
    const bus: ServerEventBus = {
      // Nothing is published through the bus, because events come from the watched resources.
      publish: () => undefined,
      subscribe(listener) {
        isSubscribed = true;
        const close = () => stream.close();
        const finished = [...watches].map(([uri, watch]) => notifyListener(stream, listener, uri, watch));
        void Promise.all(finished).then(close);
        return close;
      },
    };
    const handler = createMcpHandler(build, {
      legacy: 'reject',
      bus,
      keepAliveMs: ports.streams.keepAliveMs,
      onerror: (error) => ports.log.warn('mcp_refused', { error: error.message }),
    });
    stream.end.addEventListener('abort', () => void handler.close(), { once: true });
    // The SDK acknowledges what the filter contains, so the filter is reduced to the resources that are watched.
    const { notifications, ...params } = filter.data ?? {};
    const resourceSubscriptions = [...watches.keys()];
    const narrowed = { ...params, notifications: { ...notifications, resourceSubscriptions } };
    const parsedBody = filter.success ? { ...message, params: narrowed } : message;
    const response = await handler.fetch(request, { parsedBody });
    if (!isSubscribed) stream.close();
    return response;
  });
}

/** Starts to watch those of the requested resources that exist and that the caller may watch. */
async function openWatches(
  ports: StreamPorts,
  stream: Stream,
  { requestContext, selected }: RoutedRequest,
  wanted: readonly string[],
): Promise<ReadonlyMap<string, AsyncIterable<unknown>>> {
  const uris = [...new Set(wanted)].slice(0, MAX_WATCHED_RESOURCES);
  const opened = await Promise.all(
    uris.map(async (uri) => {
      const found = selected.resources.find(uri);
      const watch = found && (await openWatch(ports, stream, requestContext.requestId, found));
      return watch === undefined ? [] : [[uri, watch] as const];
    }),
  );
  return new Map(opened.flat());
}

async function openWatch(
  ports: StreamPorts,
  stream: Stream,
  requestId: string,
  { what, need, resource }: FoundResource,
): Promise<AsyncIterable<unknown> | undefined> {
  try {
    const admitted = { ...(await stream.checkPermission(need)), disconnectSignal: () => stream.end };
    return await resource.watch?.(readingContext(ports, admitted, what));
  } catch (error) {
    // Logs the error if it is unexpected. The resource is then omitted from the acknowledgement.
    presentableError(error, requestId, what, ports.log);
    return undefined;
  }
}

/** Notifies the client of each change of a resource. Never rejects: if the watch fails, the stream ends. */
async function notifyListener(
  stream: Stream,
  listener: (event: ServerEvent) => void,
  uri: string,
  watch: AsyncIterable<unknown>,
): Promise<void> {
  try {
    for await (const _change of watch) {
      await stream.reauthenticate();
      if (stream.end.aborted) return;
      listener({ kind: 'resource_updated', uri });
    }
    await stream.reauthenticate();
  } catch (error) {
    stream.fail(error);
  }
}
