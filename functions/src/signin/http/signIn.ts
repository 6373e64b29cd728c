/** Routes and serves sign-in requests. Source: docs/guides/sign-in.md; docs/decisions/0032-signing-in.md. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Addresses } from '../../access/rules/addresses.ts';
import type { MusterError } from '../../kernel/errors.ts';
import { HttpRejection } from '../../mcp/http/rejection.ts';
import { compressed, respondEarly } from '../../mcp/http/response.ts';
import { presentableError } from '../../mcp/toolResponse.ts';
import { OAuthError } from '../rules/oauthError.ts';
import { AuthorizationPage } from './authorize.ts';
import { TokenEndpoints } from './endpoints.ts';
import { metadataAt } from './metadata.ts';
import { json, NOT_STORED, type Reply, type SignInPorts, type SignInRequest } from './signInRequest.ts';

interface Route {
  readonly method: 'GET' | 'POST';
  /** Whether pages of any site may call the endpoint. Browsers send no credentials with such a call automatically. */
  readonly isForAnyPage: boolean;
  readonly serve: (visit: SignInRequest) => Promise<Reply> | Reply;
}

export type SignIn = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** First path segments that no toolset may have as its name. */
export const RESERVED = ['.well-known', 'authorize', 'token', 'register', 'revoke', 'jwks', 'signin'] as const;

/** Returns the path of a request below the sign-in root; undefined if the path is not part of sign-in. */
export function signInPathOf(url: string): string | undefined {
  const [path = '/'] = url.split('?', 1);
  const own = path.startsWith('/mcp/') ? path.slice('/mcp'.length) : path;
  const [, name] = own.split('/');
  return RESERVED.some((one) => one === name) ? own.replace(/(.)\/+$/, '$1') : undefined;
}

export function createSignInEndpoint(ports: SignInPorts, addresses: Addresses): SignIn {
  const routes = routesOf(ports);
  return async (request, response) => {
    const { url = '/' } = request;
    const path = signInPathOf(url) ?? '/';
    const address = addresses.of(request.headers.host);
    const query = new URLSearchParams(url.split('?').slice(1).join('?'));
    const route = routes.get(path.startsWith('/.well-known/') ? '/.well-known' : path);
    const isThere = route !== undefined && address !== undefined;
    const visited = isThere ? respond(route, { request, response, address, path, query }, ports) : NOTHING;
    const reply = await visited;
    const cors = route === undefined || route.isForAnyPage ? ANY_PAGE : {};
    const { status, headers, body } = reply;
    respondEarly(request, response, { status, headers: { ...headers, ...cors }, body });
  };
}

const NOTHING = json(404, { error: 'not_found', error_description: 'Unknown path.' });

const ANY_PAGE = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': 'Retry-After' };

function routesOf(ports: SignInPorts): ReadonlyMap<string, Route> {
  const page = new AuthorizationPage(ports);
  const endpoints = new TokenEndpoints(ports);
  const read = (serve: Route['serve']): Route => ({ method: 'GET', isForAnyPage: true, serve });
  const call = (serve: Route['serve']): Route => ({ method: 'POST', isForAnyPage: true, serve });
  const own = (method: Route['method'], serve: Route['serve']): Route => ({ method, isForAnyPage: false, serve });
  return new Map<string, Route>([
    ['/.well-known', read(({ path, address }) => metadataAt(path, address, ports))],
    ['/jwks', read(() => json(200, { keys: [] }))],
    ['/token', call((visit) => endpoints.token(visit))],
    ['/register', call((visit) => endpoints.register(visit))],
    ['/revoke', call((visit) => endpoints.revoke(visit))],
    ['/authorize', own('GET', (visit) => page.open(visit))],
    ['/authorize/person', own('POST', (visit) => page.identify(visit))],
    ['/authorize/decision', own('POST', (visit) => page.decide(visit))],
    ['/signin/page.js', own('GET', (visit) => assetReply(visit, ports, 'page.js', 'text/javascript'))],
    ['/signin/page.css', own('GET', (visit) => assetReply(visit, ports, 'page.css', 'text/css'))],
  ]);
}

async function respond(
  { method, isForAnyPage, serve }: Route,
  visit: SignInRequest,
  ports: SignInPorts,
): Promise<Reply> {
  const sent = visit.request.method ?? '';
  if (sent === 'OPTIONS' && isForAnyPage) return { status: 204, headers: preflight(method), body: '' };
  if (sent !== method && !(sent === 'HEAD' && method === 'GET'))
    return json(405, { error: 'invalid_request', error_description: `Send a ${method} request.` }, { Allow: method });
  try {
    return await serve(visit);
  } catch (error) {
    return rejectionOf(error, ports);
  }
}

function preflight(method: string): Record<string, string> {
  return {
    'Access-Control-Allow-Methods': method,
    'Access-Control-Allow-Headers': 'Authorization, Content-Type, MCP-Protocol-Version',
    'Access-Control-Max-Age': '7200',
  };
}

/** Returns the error response. Source: RFC 6749, section 5.2. */
function rejectionOf(error: unknown, { log, randomness }: SignInPorts): Reply {
  if (error instanceof OAuthError) {
    log.info('sign_in_refused', { code: error.code, why: error.message });
    return json(error.status, { error: error.code, error_description: error.message });
  }
  if (error instanceof HttpRejection)
    return json(
      error.status,
      { error: 'invalid_request', error_description: error.message },
      { ...NOT_STORED, ...error.headers },
    );
  const shown = presentableError(error, randomness.uuid(), 'sign-in', log);
  return json(...internalError(shown));
}

function internalError({ code, message, details }: MusterError): Parameters<typeof json> {
  const { retryAfter, suggestion } = details;
  const headers = retryAfter === undefined ? NOT_STORED : { ...NOT_STORED, 'Retry-After': String(retryAfter) };
  const error_description = [message, suggestion].filter(Boolean).join(' ');
  if (code === 'RATE_LIMITED') return [429, { error: 'temporarily_unavailable', error_description }, headers];
  if (code === 'INTERNAL') return [500, { error: 'server_error', error_description }, headers];
  return [503, { error: 'temporarily_unavailable', error_description }, headers];
}

/** Returns a static file. It is cached for minutes only, because each deployment may change the file. */
async function assetReply(
  { request }: SignInRequest,
  ports: SignInPorts,
  name: 'page.js' | 'page.css',
  type: string,
): Promise<Reply> {
  const { body, encoding } = await compressed(request, await ports.asset(name));
  const headers = {
    'Content-Type': `${type}; charset=utf-8`,
    'Cache-Control': 'public, max-age=300',
    Vary: 'Accept-Encoding',
    'X-Content-Type-Options': 'nosniff',
    ...(encoding && { 'Content-Encoding': encoding }),
  };
  return { status: 200, headers, body };
}
