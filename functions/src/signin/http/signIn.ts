/** Routes and serves sign-in requests. Source: docs/guides/sign-in.md; docs/decisions/0032-signing-in.md. */
import type { Address, Addresses } from '../../access/rules/addresses.ts';
import { SCOPES } from '../../identity/rules/principal.ts';
import { presentableError } from '../../mcp/callContext.ts';
import { HttpRejection } from '../../mcp/http/rejection.ts';
import type { Endpoint } from '../../mcp/http/request.ts';
import { compressed, respondEarly } from '../../mcp/http/response.ts';
import { OAuthError } from '../rules/oauthError.ts';
import type { AuthorizationPage } from './authorize.ts';
import type { TokenEndpoints } from './endpoints.ts';
import { json, NOT_STORED, type Reply, type SignInPorts, type SignInRequest } from './signInRequest.ts';

/** Dependencies of the routes that need no services. */
interface SignInFront extends Pick<SignInPorts, 'log' | 'toolsetsAt'> {
  readonly randomness: { uuid(): string };
  readonly addresses: Addresses;
  asset(name: 'page.js' | 'page.css'): Promise<Buffer>;
}

/** Handlers of the routes that need services. */
interface Loaded {
  readonly authorizationPage: AuthorizationPage;
  readonly tokenEndpoints: TokenEndpoints;
}

interface Route {
  readonly method: 'GET' | 'POST';
  /** Whether pages of any site may call the endpoint. Browsers send no credentials with such a call automatically. */
  readonly isForAnyPage: boolean;
  readonly serve: (visit: SignInRequest) => Promise<Reply> | Reply;
}

/** First path segments that no toolset may have as its name. */
export const RESERVED = ['.well-known', 'authorize', 'token', 'register', 'revoke', 'jwks', 'signin'] as const;

/** Returns the path of a request below the sign-in root; undefined if the path is not part of sign-in. */
export function signInPathOf(url: string): string | undefined {
  const [path = '/'] = url.split('?', 1);
  const own = path.startsWith('/mcp/') ? path.slice('/mcp'.length) : path;
  const [, name] = own.split('/');
  return RESERVED.some((one) => one === name) ? own.replace(/(.)\/+$/, '$1') : undefined;
}

export function createSignInEndpoint(front: SignInFront, load: () => Loaded | Promise<Loaded>): Endpoint {
  const routes = routesOf(front, load);
  return async (request, response) => {
    const { url = '/' } = request;
    const path = signInPathOf(url) ?? '/';
    const address = front.addresses.of(request.headers.host);
    const query = new URLSearchParams(url.split('?').slice(1).join('?'));
    const route = routes.get(path.startsWith('/.well-known/') ? '/.well-known' : path);
    const isThere = route !== undefined && address !== undefined;
    const visit = { request, response, address, path, query };
    const { status, headers, body } = isThere ? await respond(route, { ...visit, address }, front) : NOTHING;
    const cors = route === undefined || route.isForAnyPage ? ANY_PAGE : {};
    respondEarly(request, response, { status, headers: { ...headers, ...cors }, body });
  };
}

const NOTHING = json(404, { error: 'not_found', error_description: 'Unknown path.' });
const ANY_PAGE = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': 'Retry-After' };

function routesOf(front: SignInFront, load: () => Loaded | Promise<Loaded>): ReadonlyMap<string, Route> {
  const read = (serve: Route['serve']): Route => ({ method: 'GET', isForAnyPage: true, serve });
  const call = (serve: Route['serve']): Route => ({ method: 'POST', isForAnyPage: true, serve });
  const own = (method: Route['method'], serve: Route['serve']): Route => ({ method, isForAnyPage: false, serve });
  return new Map<string, Route>([
    ['/.well-known', read(({ path, address }) => metadataAt(path, address, front))],
    ['/jwks', read(() => json(200, { keys: [] }))],
    ['/token', call(async (visit) => (await load()).tokenEndpoints.token(visit))],
    ['/register', call(async (visit) => (await load()).tokenEndpoints.register(visit))],
    ['/revoke', call(async (visit) => (await load()).tokenEndpoints.revoke(visit))],
    ['/authorize', own('GET', async (visit) => (await load()).authorizationPage.open(visit))],
    ['/authorize/person', own('POST', async (visit) => (await load()).authorizationPage.identify(visit))],
    ['/authorize/decision', own('POST', async (visit) => (await load()).authorizationPage.decide(visit))],
    ['/signin/page.js', own('GET', (visit) => assetReply(visit, front, 'page.js', 'text/javascript'))],
    ['/signin/page.css', own('GET', (visit) => assetReply(visit, front, 'page.css', 'text/css'))],
  ]);
}

async function respond(
  { method, isForAnyPage, serve }: Route,
  visit: SignInRequest,
  front: SignInFront,
): Promise<Reply> {
  const sent = visit.request.method ?? '';
  if (sent === 'OPTIONS' && isForAnyPage) return { status: 204, headers: preflight(method), body: '' };
  if (sent !== method && !(sent === 'HEAD' && method === 'GET'))
    return json(405, { error: 'invalid_request', error_description: `Send a ${method} request.` }, { Allow: method });
  try {
    return await serve(visit);
  } catch (error) {
    return rejectionOf(error, front);
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
function rejectionOf(error: unknown, { log, randomness }: SignInFront): Reply {
  if (error instanceof OAuthError) {
    log.info('sign_in_refused', { code: error.code, why: error.message });
    return failure(error.status, error.code, error.message);
  }
  if (error instanceof HttpRejection) return failure(error.status, 'invalid_request', error.message, error.headers);
  const { code, message, details } = presentableError(error, randomness.uuid(), 'sign-in', log);
  const { retryAfter, suggestion } = details;
  const headers = retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) };
  const whole = [message, suggestion].filter(Boolean).join(' ');
  if (code === 'INTERNAL') return failure(500, 'server_error', whole, headers);
  return failure(code === 'RATE_LIMITED' ? 429 : 503, 'temporarily_unavailable', whole, headers);
}

function failure(status: number, error: string, error_description: string, headers: Reply['headers'] = {}): Reply {
  return json(status, { error, error_description }, { ...NOT_STORED, ...headers });
}

/** Returns a static file. It is cached for minutes only, because each deployment may change the file. */
async function assetReply(
  { request }: SignInRequest,
  { asset }: SignInFront,
  name: 'page.js' | 'page.css',
  type: string,
): Promise<Reply> {
  const { body, encoding } = await compressed(request, await asset(name));
  const headers = {
    'Content-Type': `${type}; charset=utf-8`,
    'Cache-Control': 'public, max-age=300',
    Vary: 'Accept-Encoding',
    'X-Content-Type-Options': 'nosniff',
    ...(encoding && { 'Content-Encoding': encoding }),
  };
  return { status: 200, headers, body };
}

const PROTECTED_RESOURCE = '/.well-known/oauth-protected-resource';
const AUTHORIZATION_SERVER = '/.well-known/oauth-authorization-server';
const OPENID = '/.well-known/openid-configuration';

/** Clients may cache the metadata for an hour, so they learn of a new URL of the deployment within an hour. */
const CACHE_CONTROL = { 'Cache-Control': 'public, max-age=3600' };
const NOT_FOUND_REPLY = json(404, { error: 'not_found', error_description: 'Unknown path.' }, CACHE_CONTROL);

/** Returns the metadata document at a path. @param path starts with `/.well-known/` */
function metadataAt(path: string, address: Address, ports: Pick<SignInPorts, 'toolsetsAt'>): Reply {
  const resource = pathBelow(PROTECTED_RESOURCE, path);
  if (resource !== undefined) return resourceMetadata(resource, address, ports);
  if (pathBelow(AUTHORIZATION_SERVER, path) !== undefined) return json(200, serverMetadata(address), CACHE_CONTROL);
  // An issuer without a path needs no OpenID metadata, because clients read the document above first.
  const isBelow = address.issuer === address.mcp;
  if (isBelow && pathBelow(OPENID, path) !== undefined)
    return json(200, { ...serverMetadata(address), ...openIdMetadata(address) }, CACHE_CONTROL);
  return NOT_FOUND_REPLY;
}

/** Returns the part of the path after `start`; undefined if the path does not start with `start`. */
function pathBelow(start: string, path: string): string | undefined {
  if (path === start) return '';
  return path.startsWith(`${start}/`) ? path.slice(start.length).replace(/\/+$/, '') : undefined;
}

function resourceMetadata(
  path: string,
  { issuer, mcp }: Address,
  { toolsetsAt }: Pick<SignInPorts, 'toolsetsAt'>,
): Reply {
  const root = mcp.slice(issuer.length);
  const below = path === '' || path === root ? '' : path.startsWith(`${root}/`) ? path.slice(root.length) : undefined;
  if (below === undefined || toolsetsAt(below).length === 0) return NOT_FOUND_REPLY;
  return json(
    200,
    {
      // Clients compare this URL with the URL that the person entered, so both must be exactly equal.
      resource: `${mcp}${below}`,
      authorization_servers: [issuer],
      scopes_supported: Object.values(SCOPES),
      bearer_methods_supported: ['header'],
      resource_name: 'Muster',
    },
    CACHE_CONTROL,
  );
}

function serverMetadata({ issuer }: Address) {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    revocation_endpoint: `${issuer}/revoke`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    scopes_supported: Object.values(SCOPES),
    client_id_metadata_document_supported: true,
    authorization_response_iss_parameter_supported: true,
  };
}

/** Fields that OpenID metadata must have. They have no effect, because this server issues no ID tokens. */
function openIdMetadata({ issuer }: Address) {
  return {
    jwks_uri: `${issuer}/jwks`,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  };
}
