/** What a client asks a person for. Source: draft-ietf-oauth-v2-1, section 4.1; RFC 7636; RFC 8707; RFC 9207. */
import { z } from 'zod/mini';
import type { Address } from '../../access/rules/addresses.ts';
import { SCOPES } from '../../identity/rules/grant.ts';
import { documentCodec, timestamp } from '../../kernel/documentCodec.ts';
import { OAuthError } from './oauthError.ts';
import { answered } from './redirects.ts';

export type Authorization = ReturnType<typeof authorizationFromDocument>;

export interface AuthorizationChanges {
  readonly beginAuthorization: { readonly authorization: Authorization };
  readonly replaceAuthorization: { readonly authorization: Authorization; readonly version: string };
  readonly endAuthorization: { readonly id: string; readonly version: string };
}

/** How long a person has to decide. */
export const DECIDING_MILLISECONDS = 10 * 60 * 1000;

export type Asked = Pick<Authorization, 'challenge' | 'state' | 'is_readonly' | 'resource'>;

/** A challenge is the base64url of a SHA-256. Source: RFC 7636, section 4.2. */
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;

const LONGEST_STATE = 4000;

/**
 * Returns the parameters of a request, each once. Only `resource` may be repeated (RFC 8707, section 2), with one value.
 * @throws OAuthError invalid_request if another one is repeated: readers of the first and of the last would not agree;
 *   invalid_target if there are two resources
 */
export function parametersIn(query: URLSearchParams): (name: string) => string | undefined {
  const repeated = [...new Set(query.keys())].find(
    (name) => name !== 'resource' && query.getAll(name).length > 1,
  );
  if (repeated !== undefined)
    throw new OAuthError('invalid_request', `The parameter "${repeated}" is there more than once.`);
  const [resource, ...others] = query.getAll('resource').filter((value) => value !== '');
  if (others.some((other) => addressOf(other) !== addressOf(resource ?? '')))
    throw new OAuthError('invalid_target', 'A token is for one resource, and two are named.');
  // A parameter without a value counts as left out: RFC 6749, section 3.1.
  return (name) => (name === 'resource' ? resource : query.get(name) || undefined);
}

/**
 * Returns a resource as it is compared: without a query, which chooses among what is there, without slashes at the end,
 * and with scheme and host in lower case (RFC 3986, section 6.2.2.1). Text that is not a URL stays as it is.
 */
export function addressOf(resource: string): string {
  if (!URL.canParse(resource)) return resource;
  const { origin, pathname } = new URL(resource);
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}

/**
 * What is asked for, of a client that is known and an address that is its own.
 * @param isServed whether MCP is spoken at an address below where it is spoken here
 * @throws OAuthError of which the client is told
 */
export function askedIn(
  parameter: (name: string) => string | undefined,
  address: Address,
  isServed: (below: string) => boolean,
): Asked {
  if (parameter('response_type') !== 'code')
    throw new OAuthError('unsupported_response_type', 'The response_type must be "code".');
  if (!['query', undefined].includes(parameter('response_mode')))
    throw new OAuthError('invalid_request', 'The response_mode must be "query", or left out.');
  const challenge = parameter('code_challenge');
  if (challenge === undefined || parameter('code_challenge_method') !== 'S256' || !CHALLENGE.test(challenge))
    throw new OAuthError(
      'invalid_request',
      'A code_challenge is needed, of the code_challenge_method "S256".',
    );
  const state = parameter('state');
  if ((state?.length ?? 0) > LONGEST_STATE)
    throw new OAuthError('invalid_request', `The state is longer than ${LONGEST_STATE} characters.`);
  if (parameter('request') !== undefined || parameter('request_uri') !== undefined)
    throw new OAuthError('invalid_request', 'Requests are not taken as objects.');
  // Each time somebody decides, so that no sign-in goes on unseen.
  if (parameter('prompt') === 'none')
    throw new OAuthError('interaction_required', 'A person must sign in and allow it.');
  return {
    challenge,
    ...(state !== undefined && { state }),
    is_readonly: asksForReading(parameter('scope')),
    resource: resourceIn(parameter('resource'), address, isServed),
  };
}

/** Clients ask for what they have read somewhere, or for nothing: what is not known here does not count. */
export function asksForReading(scope: string | undefined): boolean {
  const names = scope?.split(' ') ?? [];
  return names.includes(SCOPES.read) && !names.includes(SCOPES.write);
}

/** The tokens' address, as written here. @throws OAuthError invalid_target if nothing of this deployment is there */
export function resourceIn(
  resource: string | undefined,
  { mcp }: Address,
  isServed: (below: string) => boolean,
): string {
  if (resource === undefined) return mcp;
  const plain = addressOf(resource);
  if (plain === mcp || plain === new URL(mcp).origin) return mcp;
  if (plain.startsWith(`${mcp}/`) && isServed(plain.slice(mcp.length))) return plain;
  throw new OAuthError(
    'invalid_target',
    `There are no tokens for that resource here: the address is ${mcp}.`,
  );
}

/** The way back to the client, with what it asked for or why not. */
export function wayBack(
  { redirect_uri, state, issuer }: Pick<Authorization, 'redirect_uri' | 'state' | 'issuer'>,
  answer: { readonly code: string } | { readonly error: OAuthError },
): string {
  const outcome =
    'code' in answer
      ? { code: answer.code }
      : { error: answer.error.code, error_description: answer.error.message };
  // By the issuer a client that talks to several servers knows whose answer it is.
  return answered(redirect_uri, { ...outcome, state, iss: issuer });
}

/** What a client has asked for, until its person has decided: `authorizations/{id}`. */
export const { toDocument: authorizationToDocument, fromDocument: authorizationFromDocument } = documentCodec(
  z.object({
    id: z.string(),
    /** Of the secret that the browser has in a cookie, in which the sign-in began. */
    browser_hash: z.string(),
    client_id: z.string(),
    client_name: z.string(),
    client_host: z.nullable(z.string()),
    redirect_uri: z.string(),
    /** The client's own, which it is given back. */
    state: z.nullable(z.string()),
    challenge: z.string(),
    /** Whether the client asks for reading alone. */
    is_readonly: z.boolean(),
    resource: z.string(),
    issuer: z.string(),
    /** Who has signed in, and what their page shows that it is theirs; null until then. */
    person: z.nullable(z.object({ uid: z.string(), approval_hash: z.string() })),
    expires_at: timestamp,
  }),
);
