/** Steps of a request with a credential. It gets an event stream, or a response as a page, in plain JSON-RPC or in MCP. */
import type { ServerResponse } from 'node:http';
import { DEFAULT_WORKSPACE } from '../../identity/rules/principal.ts';
import { lazy } from '../../kernel/memoCache.ts';
import { validTraceparent, withTraces } from '../../kernel/trace.ts';
import { Catalogs, type RoutedRequest } from '../catalog.ts';
import { serveMcp } from '../protocol/server.ts';
import { knownPaths } from '../urlSelection.ts';
import { valueAt } from '../validation.ts';
import { body, contentType, message, type ReadBody } from './body.ts';
import { type Answer, type Authenticated, authenticate, toolsets } from './credential.ts';
import { type AnswerDependencies, Pipeline, type PipelineRequest, type WithServices } from './pipeline.ts';
import { notFound } from './rejection.ts';
import { baseUrlOf, headerOf } from './request.ts';
import { type McpReply, send, sendEvents } from './response.ts';
import { method, type Routed } from './route.ts';
import { serveAgentPage, serveRpc } from './rpc.ts';
import { openEvents } from './streams.ts';

type Exchange = PipelineRequest & Routed & WithServices;

interface WithContext {
  readonly routed: RoutedRequest;
}

/** Returns the context for the calls of the request: caller, tools, workspace and remaining time. */
function context(exchange: Exchange & Authenticated): WithContext {
  const { front, catalogs, selection, principal } = exchange;
  const isReadonly = selection.readonly || principal.readonly === true;
  const listed = catalogs.of({ ...selection, readonly: isReadonly }, principal.toolsets);
  const requestContext = {
    principal,
    credential: exchange.credential,
    workspace: selection.workspace ?? principal.workspace ?? DEFAULT_WORKSPACE,
    requestId: exchange.requestId,
    baseUrl: baseUrlOf(exchange.request, front.addresses, front.mountPath),
    directory: listed.directory,
    disconnectSignal: clientSignalOf(exchange.response),
    timeLeft: exchange.timeLeft,
  };
  return { routed: { listed, selected: catalogs.of(selection), requestContext } };
}

/** Responds to a request for `/mcp/events` with a stream. */
function events(exchange: Exchange & WithContext): false | Promise<true> {
  return exchange.selection.protocol === 'events' && streamEvents(exchange);
}

async function streamEvents(exchange: Exchange & WithContext): Promise<true> {
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
function page(exchange: Exchange & WithContext): false | Promise<true> {
  const { deployment, selection, routed } = exchange;
  return selection.page !== undefined && reply(exchange, serveAgentPage(deployment, routed, selection.page));
}

/** Responds to a request for `/mcp/rpc`. The body may be any JSON. */
function rpc(exchange: Exchange & WithContext & ReadBody): false | Promise<true> {
  const { deployment, selection, routed, bytes } = exchange;
  return selection.protocol === 'rpc' && reply(exchange, serveRpc(deployment, routed, bytes));
}

/** Responds to a message. A batch has the trace of its first message. */
function mcp(exchange: Exchange & WithContext & { readonly message: unknown }): Promise<true> {
  const { request, deployment, routed, message } = exchange;
  const { headers } = request;
  const sent = valueAt(Array.isArray(message) ? message[0] : message, TRACEPARENT_PATH);
  const { traceparent: header } = headers;
  const inbound = { ...routed, headers, body: message };
  if (sent === undefined && header === undefined) return reply(exchange, serveMcp(deployment, inbound));
  const client = validTraceparent(sent);
  const requestContext = { ...routed.requestContext, traceparent: client ?? validTraceparent(header) };
  return reply(
    exchange,
    withTraces({ client }, () => serveMcp(deployment, { ...inbound, requestContext })),
  );
}

/** Place of the client's trace context. Source: MCP 2026-07-28, "_meta". */
const TRACEPARENT_PATH = ['params', '_meta', 'traceparent'];

async function reply({ request, response }: PipelineRequest, made: Promise<McpReply>): Promise<true> {
  await send(request, response, await made);
  return true;
}

/** Returns a getter of the signal that fires if the client disconnects early. The first use creates the signal. */
function clientSignalOf(response: ServerResponse): () => AbortSignal {
  return lazy(() => {
    const controller = new AbortController();
    const check = () => {
      if (!response.writableFinished) controller.abort();
    };
    if (response.destroyed) check();
    else response.once('close', check);
    return controller.signal;
  });
}

/** The steps after those of endpoint.ts. The body is read after all checks. */
const answer = Pipeline.start<Parameters<Answer>[0] & WithServices>()
  .add(authenticate)
  .check(method)
  .check(contentType)
  .check(toolsets)
  .add(context)
  .respond(events)
  .respond(page)
  .add(body)
  .respond(rpc)
  .add(message)
  .end(mcp);

/** Returns the function that responds to requests with a credential. */
export function createAnswer(deployment: AnswerDependencies): Answer {
  const catalogs = new Catalogs(deployment.toolsets);
  return (exchange) => answer(Object.assign(exchange, { deployment, catalogs }));
}
