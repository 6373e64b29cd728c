/**
 * The HTTP face of MCP: route, origin, method, size, credential, message, and then the MCP server.
 * Source: docs/semantics.md#the-endpoint.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { isJsonContentType } from '@modelcontextprotocol/server';
import { type Addresses, belowMcp, metadataUrlOf } from '../../access/rules/addresses.ts';
import { mayUse } from '../../access/rules/gate.ts';
import { EVERY_SCOPE } from '../../access/rules/grant.ts';
import { DEFAULT_WORKSPACE, type Principal } from '../../access/rules/principal.ts';
import { MusterError } from '../../kernel/errors.ts';
import type { Randomness } from '../../kernel/ports.ts';
import { presentable, timeLeftOfRequest } from '../answer.ts';
import { Catalogues, type RoutedRequest } from '../catalogue.ts';
import { serveMcp } from '../protocol/server.ts';
import type { Toolset } from '../tool.ts';
import { knownPaths, type Protocol, parseSelection, type RoutedSelection } from '../urlSelection.ts';
import { BadMessage, checkBodyHeaders, parseMessage, readBody } from './body.ts';
import {
  type Challenge,
  corsHeaders,
  insufficientScope,
  isAllowedOrigin,
  notFound,
  preflightHeaders,
  Refusal,
  refusal,
  refusalOf,
} from './refusal.ts';
import { addressOf, baseUrlOf, credentialOf, type Endpoint, headerOf, refuseCredential } from './request.ts';
import { send, sendEvents, sendRefusal } from './response.ts';
import { serveAgentPage, serveRpc } from './rpc.ts';
import { openEvents, type StreamPorts } from './streams.ts';

/** What app.ts composes. */
export interface EndpointDependencies extends StreamPorts {
  readonly toolsets: readonly Toolset[];
  readonly randomness: Randomness;
  /** The origins of web pages that may call, beside local ones: `https://console.example`. */
  readonly allowedOrigins: readonly string[];
  readonly version: string;
  readonly addresses: Addresses;
  /** The number of proxies of the deployment in front of Google's front end. */
  readonly trustedProxies: number;
  /** The path before `req.url`, where something in front has taken it away: the emulator does. */
  readonly mountPath: string | undefined;
}

export function createEndpoint(dependencies: EndpointDependencies): Endpoint {
  const { log, randomness } = dependencies;
  const catalogues = new Catalogues(dependencies.toolsets);
  return async (request, response) => {
    const requestId = randomness.uuid();
    try {
      await answer(dependencies, catalogues, request, response, requestId);
    } catch (error) {
      if (!(error instanceof Refusal)) {
        return sendRefusal(request, response, refusalOf(presentable(error, requestId, 'request', log)));
      }
      // It never became a call, which would have logged it.
      log.info('request_refused', { requestId, status: error.status, why: error.message });
      sendRefusal(request, response, error);
    }
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
  const { names } = catalogues;
  const { path, query } = locationOf(request);
  const selection = parseSelection({ path, query, header: (name) => headerOf(request, name) }, names);
  if (selection === undefined) throw notFound(knownPaths(names));
  const { protocol, page } = selection;
  const { method, whatIsHere } = PROTOCOLS[protocol];
  const isPreflight = checkOrigin(request, response, dependencies.allowedOrigins);
  if (isPreflight) return void response.writeHead(204, preflightHeaders(method)).end();
  if (request.method === 'POST') checkBodyHeaders(request);
  const address = dependencies.addresses.of(request.headers.host);
  const challenge = address && { metadataUrl: metadataUrlOf(address, path), scope: EVERY_SCOPE };
  const about = request.method === method ? '' : `${whatIsHere} `;
  const credential = credentialOf(request.headers.authorization, challenge, about);
  const principal = await dependencies.authenticator
    .authenticate(credential, addressOf(request, dependencies.trustedProxies))
    .then((known) => requireAudience(known, address && `${address.mcp}${belowMcp(path)}`))
    .catch((error) => refuseCredential(error, challenge));
  // A client that looks for the way to sign in may ask by any method.
  if (request.method !== method) throw refusal(405, whatIsHere, { Allow: method });
  if (method === 'POST') checkContentType(request);
  checkToolsets(principal, selection, challenge);
  const isReadonly = selection.readonly || principal.readonly === true;
  const listed = catalogues.of({ ...selection, readonly: isReadonly }, principal.toolsets);
  const requestContext = {
    principal,
    credential,
    workspace: selection.workspace ?? principal.workspace ?? DEFAULT_WORKSPACE,
    requestId,
    baseUrl: baseUrlOf(request, dependencies.addresses, dependencies.mountPath),
    directory: listed.directory,
    gone: clientSignalOf(response),
    timeLeft,
  };
  const routed: RoutedRequest = { listed, selected: catalogues.of(selection), requestContext };
  if (protocol === 'events') {
    const source = catalogues.eventSource;
    if (source === undefined) throw notFound(knownPaths(names));
    const open = source.request(query, headerOf(request, 'last-event-id'));
    const [toolset = ''] = selection.toolsets;
    return sendEvents(response, await openEvents(dependencies, requestContext, toolset, source, open));
  }
  if (page !== undefined) return send(request, response, await serveAgentPage(dependencies, routed, page));
  const bytes = await readBody(request, response);
  if (protocol === 'rpc') return send(request, response, await serveRpc(dependencies, routed, bytes));
  const body = await messageOf(bytes, () => dependencies.limits.take(principal));
  await send(request, response, await serveMcp(dependencies, { ...routed, headers: request.headers, body }));
}

/** The one method that each protocol takes, and what is said to another, such as of a person who opens the address. */
const PROTOCOLS: Readonly<Record<Protocol, { method: 'GET' | 'POST'; whatIsHere: string }>> = {
  mcp: {
    method: 'POST',
    whatIsHere:
      'This is the address of Muster, a hub for AI agents, and no page to look at: it speaks MCP, in POST requests. Give the address to an MCP client, and sign in there, or with a key: claude mcp add --transport http muster <this address> --header "Authorization: Bearer <key>". There are no streams and no sessions to open with GET or to end with DELETE.',
  },
  rpc: {
    method: 'POST',
    whatIsHere:
      'This is where Muster, a hub for AI agents, takes its tools as plain JSON-RPC 2.0, in POST requests. MCP is at /mcp.',
  },
  events: {
    method: 'GET',
    whatIsHere:
      'This is a stream of the events of one subscription of Muster: send a GET request, with ?subscriptionId=….',
  },
  page: {
    method: 'GET',
    whatIsHere: 'This is a page of an agent of Muster, to be read: send a GET request.',
  },
};

function locationOf({ url = '/' }: IncomingMessage) {
  const [path = '/'] = url.split('?', 1);
  return { path, query: new URLSearchParams(url.slice(path.length + 1)) };
}

/** @returns whether the request is a preflight, which ends here */
function checkOrigin(
  { method, headers }: IncomingMessage,
  response: ServerResponse,
  configured: readonly string[],
): boolean {
  const { origin, host } = headers;
  if (origin === undefined) return false;
  if (!isAllowedOrigin(origin, host, configured)) {
    const why =
      'Pages of this origin may not call. Whoever runs the deployment can add it to ALLOWED_ORIGINS.';
    throw refusal(403, why);
  }
  response.setHeaders(corsHeaders(origin));
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

function checkContentType(request: IncomingMessage): void {
  if (isJsonContentType(request.headers['content-type'])) return;
  const what = 'The content type must be application/json: send the header "Content-Type: application/json".';
  throw refusal(415, what);
}

/**
 * Tokens are good where they were issued for. Source: MCP 2026-07-28, "Access Token Usage"; RFC 8707, section 2.
 * @throws MusterError UNAUTHORIZED
 */
function requireAudience(principal: Principal, asked: string | undefined): Principal {
  const resource = principal.grant?.resource;
  if (resource === undefined || asked === resource || asked?.startsWith(`${resource}/`)) return principal;
  throw new MusterError('UNAUTHORIZED', `The access token was issued for ${resource}.`, {
    suggestion: 'Use it there, or sign in at this address.',
  });
}

function checkToolsets(
  principal: Principal,
  { toolsets }: RoutedSelection,
  challenge: Challenge | undefined,
): void {
  if (toolsets.some((toolset) => mayUse(principal, toolset))) return;
  const refused = new MusterError('FORBIDDEN', `You may not use ${toolsets.join(', ')}.`, {
    suggestion: `Your toolsets: ${principal.toolsets?.join(', ') || 'none'}.`,
  });
  throw principal.grant === undefined ? refusalOf(refused) : insufficientScope(refused, challenge);
}

/** @param charge charges for a message that is none */
async function messageOf(bytes: Buffer, charge: () => Promise<void>): Promise<unknown> {
  try {
    return parseMessage(bytes);
  } catch (error) {
    if (!(error instanceof BadMessage)) throw error;
    await charge();
    throw refusal(400, error.message, {}, error.code, error.id);
  }
}

/** Makes a signal, once, for when the client has gone away before its answer was complete. */
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
