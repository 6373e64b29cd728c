/**
 * The HTTP face of MCP: route, origin, method, size, credential, message, and then the MCP server.
 * Source: docs/semantics.md#the-endpoint.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { isJsonContentType } from '@modelcontextprotocol/server';
import { DEFAULT_WORKSPACE, type Principal } from '../../access/rules/principal.ts';
import { MusterError } from '../../kernel/errors.ts';
import type { Randomness } from '../../kernel/ports.ts';
import { presentable } from '../answer.ts';
import { mayUse } from '../call.ts';
import type { RoutedRequest } from '../callContext.ts';
import { Catalogues } from '../catalogue.ts';
import { timeLeftOfRequest } from '../idempotency.ts';
import { serveMcp } from '../protocol/server.ts';
import { knownPaths, type Protocol, parseSelection, type RoutedSelection } from '../selection.ts';
import type { Toolset } from '../tool.ts';
import {
  addressOf,
  baseUrlOf,
  credentialOf,
  type Endpoint,
  headerOf,
  refuseCredential,
  send,
  sendRefusal,
  sendStream,
} from './http.ts';
import { BadMessage, parseMessage } from './message.ts';
import {
  corsHeaders,
  isAllowedOrigin,
  notFound,
  preflightHeaders,
  Refusal,
  refusal,
  refusalOf,
} from './refusal.ts';
import { checkBodyHeaders, readBody } from './requestBody.ts';
import { serveAgentPage, serveRpc } from './rpc.ts';
import { openEvents, type StreamPorts } from './streams.ts';

/** What app.ts composes. */
export interface EndpointDependencies extends StreamPorts {
  readonly toolsets: readonly Toolset[];
  readonly randomness: Randomness;
  /** The origins of web pages that may call, beside local ones: `https://console.example`. */
  readonly allowedOrigins: readonly string[];
  readonly version: string;
  /** Where the deployment is reached, where its requests cannot tell: `https://muster.example/mcp`. */
  readonly publicUrl: string | undefined;
  /** The path before `req.url`, where something in front has taken it away: the emulator does. */
  readonly mountPath: string | undefined;
}

export function createEndpoint(dependencies: EndpointDependencies): Endpoint {
  const catalogues = new Catalogues(dependencies.toolsets);
  return (request, response) => {
    const requestId = dependencies.randomness.uuid();
    return answer(dependencies, catalogues, request, response, requestId).catch((error: unknown) => {
      const { log } = dependencies;
      if (!(error instanceof Refusal)) {
        return sendRefusal(request, response, refusalOf(presentable(error, requestId, 'request', log)));
      }
      // It never became a call, which would have logged it.
      log.info('request_refused', { requestId, status: error.status, why: error.message });
      sendRefusal(request, response, error);
    });
  };
}

async function answer(
  dependencies: EndpointDependencies,
  catalogues: Catalogues,
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
): Promise<void> {
  const timeLeft = timeLeftOfRequest();
  const selection = route(request, catalogues.names);
  const isPreflight = checkOrigin(request, response, dependencies.allowedOrigins);
  const method = METHODS[selection.protocol];
  if (isPreflight) return void response.writeHead(204, preflightHeaders(method)).end();
  checkMethod(request, selection.protocol);
  if (method === 'POST') checkBody(request);
  const credential = credentialOf(request.headers.authorization);
  const principal = await dependencies.authenticator
    .authenticate(credential, addressOf(request))
    .catch(refuseCredential);
  checkToolsets(principal, selection);
  const listed = catalogues.of(selection, principal.toolsets);
  const routed: RoutedRequest = {
    listed,
    selected: catalogues.of(selection),
    requestContext: {
      principal,
      credential,
      workspace: selection.workspace ?? principal.workspace ?? DEFAULT_WORKSPACE,
      requestId,
      baseUrl: baseUrlOf(request, dependencies.publicUrl, dependencies.mountPath),
      directory: listed.directory,
      gone: clientSignalOf(response),
      timeLeft,
    },
  };
  if (selection.protocol === 'events') {
    const source = catalogues.eventSource;
    if (source === undefined) throw notFound(knownPaths(catalogues.names));
    const open = source.request(queryOf(request), headerOf(request, 'last-event-id'));
    return sendStream(response, await openEvents(dependencies, routed.requestContext, source, open));
  }
  if (selection.page !== undefined) {
    return send(request, response, await serveAgentPage(dependencies, routed, selection.page));
  }
  const bytes = await readBody(request, response);
  if (selection.protocol === 'rpc')
    return send(request, response, await serveRpc(dependencies, routed, bytes));
  const body = await messageOf(bytes, () => dependencies.limits.take(principal));
  await send(request, response, await serveMcp(dependencies, { ...routed, headers: request.headers, body }));
}

/** The one method that each protocol takes. */
const METHODS: Readonly<Record<Protocol, 'GET' | 'POST'>> = {
  mcp: 'POST',
  rpc: 'POST',
  events: 'GET',
  page: 'GET',
};

function route(request: IncomingMessage, existing: readonly string[]): RoutedSelection {
  const [path = '/'] = splitOnce(request.url ?? '/', '?');
  const wanted = {
    path,
    query: queryOf(request),
    header: (name: string) => headerOf(request, name),
  };
  const selection = parseSelection(wanted, existing);
  if (selection === undefined) throw notFound(knownPaths(existing));
  return selection;
}

function queryOf({ url = '/' }: IncomingMessage): URLSearchParams {
  const [, query = ''] = splitOnce(url, '?');
  return new URLSearchParams(query);
}

function splitOnce(text: string, separator: string): readonly string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

/** @returns whether the request is a preflight, which ends here */
function checkOrigin(
  request: IncomingMessage,
  response: ServerResponse,
  configured: readonly string[],
): boolean {
  const { origin, host } = request.headers;
  if (origin === undefined) return false;
  if (!isAllowedOrigin(origin, host, configured)) {
    throw refusal(
      403,
      'Pages of this origin may not call. Whoever runs the deployment can add it to ALLOWED_ORIGINS.',
    );
  }
  for (const [name, value] of Object.entries(corsHeaders(origin))) response.setHeader(name, value);
  return request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined;
}

function checkMethod({ method }: IncomingMessage, protocol: Protocol): void {
  const taken = METHODS[protocol];
  if (method === taken) return;
  throw refusal(405, WHAT_IS_HERE[protocol], undefined, { Allow: taken });
}

/** For whoever sends another method, such as a person who opens the address in a browser. */
const WHAT_IS_HERE: Readonly<Record<Protocol, string>> = {
  mcp: 'This is the address of Muster, a hub for AI agents, and no page to look at: it speaks MCP, in POST requests. Give the address to an MCP client, with a credential: claude mcp add --transport http muster <this address> --header "Authorization: Bearer <key>". There are no streams and no sessions to open with GET or to end with DELETE.',
  rpc: 'This is where Muster, a hub for AI agents, takes its tools as plain JSON-RPC 2.0, in POST requests. MCP is at /mcp.',
  events:
    'This is a stream of the events of one subscription of Muster: send a GET request, with ?subscriptionId=….',
  page: 'This is a page of an agent of Muster, to be read: send a GET request.',
};

function checkBody(request: IncomingMessage): void {
  checkBodyHeaders(request);
  if (isJsonContentType(request.headers['content-type'])) return;
  throw refusal(
    415,
    'The content type must be application/json: send the header "Content-Type: application/json".',
  );
}

function checkToolsets(principal: Principal, selection: RoutedSelection): void {
  if (selection.toolsets.some((toolset) => mayUse(principal, toolset))) return;
  throw refusalOf(
    new MusterError('FORBIDDEN', `You may not use ${selection.toolsets.join(', ')}.`, {
      suggestion: `Your toolsets: ${principal.toolsets?.join(', ') || 'none'}.`,
    }),
  );
}

/** @param charge charges for a message that is none */
async function messageOf(bytes: Buffer, charge: () => Promise<void>): Promise<unknown> {
  try {
    return parseMessage(bytes);
  } catch (error) {
    if (!(error instanceof BadMessage)) throw error;
    await charge();
    throw refusal(400, error.message, error.code, {}, error.id);
  }
}

/** Makes a signal, once, for when the client has gone away before its answer was complete. */
function clientSignalOf(response: ServerResponse): () => AbortSignal {
  let signal: AbortSignal | undefined;
  return () => {
    signal ??= abortedWith(response);
    return signal;
  };
}

function abortedWith(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const check = () => {
    if (!response.writableFinished) controller.abort();
  };
  if (response.destroyed) check();
  else response.once('close', check);
  return controller.signal;
}
