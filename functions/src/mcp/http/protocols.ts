/** Steps that respond in one of the protocols: event stream, agent page, plain JSON-RPC or MCP. */

import type { ServerResponse } from 'node:http';
import { DEFAULT_WORKSPACE } from '../../identity/rules/principal.ts';
import type { RoutedRequest } from '../catalog.ts';
import { serveMcp } from '../protocol/server.ts';
import { knownPaths } from '../urlSelection.ts';
import type { ReadBody } from './body.ts';
import type { Authenticated } from './credential.ts';
import type { PipelineRequest } from './pipeline.ts';
import { notFound } from './rejection.ts';
import { baseUrlOf, headerOf } from './request.ts';
import { type McpReply, send, sendEvents } from './response.ts';
import type { Routed } from './route.ts';
import { serveAgentPage, serveRpc } from './rpc.ts';
import { openEvents } from './streams.ts';

interface WithContext {
  readonly routed: RoutedRequest;
}

/** Returns the context for the calls of the request: caller, tools, workspace and remaining time. */
export function context(exchange: PipelineRequest & Routed & Authenticated): WithContext {
  const { deployment, catalogs, selection, principal } = exchange;
  const isReadonly = selection.readonly || principal.readonly === true;
  const listed = catalogs.of({ ...selection, readonly: isReadonly }, principal.toolsets);
  const requestContext = {
    principal,
    credential: exchange.credential,
    workspace: selection.workspace ?? principal.workspace ?? DEFAULT_WORKSPACE,
    requestId: exchange.requestId,
    baseUrl: baseUrlOf(exchange.request, deployment.addresses, deployment.mountPath),
    directory: listed.directory,
    disconnectSignal: clientSignalOf(exchange.response),
    timeLeft: exchange.timeLeft,
  };
  return { routed: { listed, selected: catalogs.of(selection), requestContext } };
}

/** Responds to a request for `/mcp/events` with a stream. */
export function events(exchange: PipelineRequest & Routed & WithContext): false | Promise<true> {
  return exchange.selection.protocol === 'events' && streamEvents(exchange);
}

async function streamEvents(exchange: PipelineRequest & Routed & WithContext): Promise<true> {
  const { request, response, deployment, catalogs, selection, query, routed } = exchange;
  const source = catalogs.eventSource;
  if (source === undefined) throw notFound(knownPaths(catalogs.names));
  const open = source.request(query, headerOf(request, 'last-event-id'));
  const [toolset = ''] = selection.toolsets;
  const stream = { toolset, name: source.name, open };
  await sendEvents(response, await openEvents(deployment, routed.requestContext, stream));
  return true;
}

/** Responds to a request for a page that agents read by GET. */
export function page(exchange: PipelineRequest & Routed & WithContext): false | Promise<true> {
  const { deployment, selection, routed } = exchange;
  return selection.page !== undefined && reply(exchange, serveAgentPage(deployment, routed, selection.page));
}

/** Responds to a request for `/mcp/rpc`. The body may be any JSON. */
export function rpc(exchange: PipelineRequest & Routed & WithContext & ReadBody): false | Promise<true> {
  const { deployment, selection, routed, bytes } = exchange;
  return selection.protocol === 'rpc' && reply(exchange, serveRpc(deployment, routed, bytes));
}

/** Responds to an MCP message. */
export function mcp(exchange: PipelineRequest & WithContext & { readonly message: unknown }): Promise<true> {
  const { request, deployment, routed, message } = exchange;
  return reply(exchange, serveMcp(deployment, { ...routed, headers: request.headers, body: message }));
}

async function reply({ request, response }: PipelineRequest, made: Promise<McpReply>): Promise<true> {
  await send(request, response, await made);
  return true;
}

/** Returns a getter of the signal that fires if the client disconnects early. The first use creates the signal. */
function clientSignalOf(response: ServerResponse): () => AbortSignal {
  let controller: AbortController | undefined;
  return () => {
    if (controller !== undefined) return controller.signal;
    const made = new AbortController();
    const check = () => {
      if (!response.writableFinished) made.abort();
    };
    if (response.destroyed) check();
    else response.once('close', check);
    controller = made;
    return made.signal;
  };
}
