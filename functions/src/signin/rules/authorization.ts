/** Authorization requests of clients. Source: draft-ietf-oauth-v2-1, section 4.1; RFC 7636; RFC 8707; RFC 9207. */
import { z } from 'zod/mini';
import type { Address } from '../../access/rules/addresses.ts';
import { SCOPES } from '../../identity/rules/principal.ts';
import { documentCodec, timestamp } from '../../kernel/documentCodec.ts';
import { OAuthError } from './oauthError.ts';
import { withParameters } from './redirects.ts';

export type Authorization = ReturnType<typeof authorizationFromDocument>;

export interface AuthorizationChanges {
  readonly startAuthorization: { readonly authorization: Authorization };
  readonly replaceAuthorization: { readonly authorization: Authorization; readonly version: string };
  readonly endAuthorization: { readonly id: string; readonly version: string };
}

/** Time in which the person must decide about an authorization request, in milliseconds. */
export const DECISION_TTL_MS = 10 * 60 * 1000;

export type AuthorizationRequest = Pick<Authorization, 'challenge' | 'state' | 'is_readonly' | 'resource'>;

/** A challenge is a base64url-encoded SHA-256 hash. Source: RFC 7636, section 4.2. */
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;
const MAX_STATE_LENGTH = 4000;

/**
 * Returns a function that reads parameters. Only `resource` may be repeated, with equal values (RFC 8707, section 2).
 * @throws OAuthError invalid_request if another parameter is repeated, because some parsers read the first value and
 * others the last; invalid_target if the request names two resources
 */
export function parametersIn(query: URLSearchParams): (name: string) => string | undefined {
  const repeated = [...new Set(query.keys())].find((name) => name !== 'resource' && query.getAll(name).length > 1);
  if (repeated !== undefined) throw new OAuthError('invalid_request', `Duplicate parameter "${repeated}".`);
  const [resource, ...others] = query.getAll('resource').filter((value) => value !== '');
  if (others.some((other) => addressOf(other) !== addressOf(resource ?? '')))
    throw new OAuthError('invalid_target', 'A token is valid for one resource, but the request contains several.');
  // A parameter without a value counts as absent. Source: RFC 6749, section 3.1.
  return (name) => (name === 'resource' ? resource : query.get(name) || undefined);
}

/**
 * Returns a resource in the form for comparison: without query and trailing slashes, and with scheme and host in
 * lower case (RFC 3986, section 6.2.2.1). Text that is not a URL is returned unchanged.
 */
export function addressOf(resource: string): string {
  if (!URL.canParse(resource)) return resource;
  const { origin, pathname } = new URL(resource);
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}

/**
 * Returns the validated authorization request of a known client with a registered redirect URI.
 * @param isServed returns whether this deployment serves MCP at a path below its MCP endpoint
 * @throws OAuthError that is reported to the client
 */
export function parseRequest(
  parameter: (name: string) => string | undefined,
  address: Address,
  isServed: (below: string) => boolean,
): AuthorizationRequest {
  if (parameter('response_type') !== 'code')
    throw new OAuthError('unsupported_response_type', 'The response_type must be "code".');
  if (!['query', undefined].includes(parameter('response_mode')))
    throw new OAuthError('invalid_request', 'The response_mode must be "query" or omitted.');
  const challenge = parameter('code_challenge');
  if (challenge === undefined || parameter('code_challenge_method') !== 'S256' || !CHALLENGE.test(challenge))
    throw new OAuthError('invalid_request', 'PKCE is required: send code_challenge with code_challenge_method "S256".');
  const state = parameter('state');
  if ((state?.length ?? 0) > MAX_STATE_LENGTH)
    throw new OAuthError('invalid_request', `The state is longer than ${MAX_STATE_LENGTH} characters.`);
  if (parameter('request') !== undefined || parameter('request_uri') !== undefined)
    throw new OAuthError('invalid_request', 'Request objects (request, request_uri) are not supported.');
  // A person must confirm every sign-in, so that no sign-in happens unnoticed.
  if (parameter('prompt') === 'none')
    throw new OAuthError('interaction_required', 'A person must sign in and allow the access.');
  return {
    challenge,
    ...(state !== undefined && { state }),
    is_readonly: requestsReadonly(parameter('scope')),
    resource: resourceIn(parameter('resource'), address, isServed),
  };
}

/** Returns whether the scope requests only read access. Unknown scopes, which clients often send, are ignored. */
export function requestsReadonly(scope: string | undefined): boolean {
  const names = scope?.split(' ') ?? [];
  return names.includes(SCOPES.read) && !names.includes(SCOPES.write);
}

/** Returns the resource in canonical form. @throws OAuthError invalid_target if this deployment does not serve it */
export function resourceIn(
  resource: string | undefined,
  { mcp }: Address,
  isServed: (below: string) => boolean,
): string {
  if (resource === undefined) return mcp;
  const plain = addressOf(resource);
  if (plain === mcp || plain === new URL(mcp).origin) return mcp;
  if (plain.startsWith(`${mcp}/`) && isServed(plain.slice(mcp.length))) return plain;
  throw new OAuthError('invalid_target', `Unknown resource. This server issues tokens for ${mcp} only.`);
}

/** Returns the URL that redirects the browser to the client, with the code or the error. */
export function redirectToClient(
  { redirect_uri, state, issuer }: Pick<Authorization, 'redirect_uri' | 'state' | 'issuer'>,
  answer: { readonly code: string } | { readonly error: OAuthError },
): string {
  const outcome =
    'code' in answer ? { code: answer.code } : { error: answer.error.code, error_description: answer.error.message };
  // From the issuer, a client of several servers knows which server has responded. Source: RFC 9207.
  return withParameters(redirect_uri, { ...outcome, state, iss: issuer });
}

/** Document `authorizations/{id}`: a client's authorization request until the person decides. */
export const { toDocument: authorizationToDocument, fromDocument: authorizationFromDocument } = documentCodec(
  z.object({
    id: z.string(),
    /** Hash of the secret in the cookie of the browser that started the sign-in. */
    browser_hash: z.string(),
    client_id: z.string(),
    client_name: z.string(),
    client_host: z.nullable(z.string()),
    redirect_uri: z.string(),
    /** Opaque value of the client, which gets the value back unchanged. */
    state: z.nullable(z.string()),
    challenge: z.string(),
    is_readonly: z.boolean(),
    resource: z.string(),
    issuer: z.string(),
    /** Person who has signed in, and hash of the approval secret of the person's page; null before the sign-in. */
    person: z.nullable(z.object({ uid: z.string(), approval_hash: z.string() })),
    expires_at: timestamp,
  }),
);
