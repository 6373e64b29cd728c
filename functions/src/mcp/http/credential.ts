/** Authentication and sign-in challenges. Source: docs/semantics.md#the-endpoint; RFC 6750; RFC 9728. */
import { belowMcp, metadataUrlOf } from '../../access/rules/addresses.ts';
import { canUseToolset } from '../../access/rules/permissionCheck.ts';
import { EVERY_SCOPE, type Principal } from '../../identity/rules/principal.ts';
import { ERROR_CODES, type ErrorCode, MusterError } from '../../kernel/errors.ts';
import type { MaybeAsync, PipelineRequest, WithServices } from './pipeline.ts';
import { HttpRejection, rejection, rejectionOf } from './rejection.ts';
import { addressOf } from './request.ts';
import type { Routed } from './route.ts';

interface WithChallenge {
  /** URL of the sign-in metadata of the requested path; undefined if people cannot sign in at this deployment. */
  readonly metadataUrl: string | undefined;
  /** URL of the request in the form that access tokens contain. */
  readonly audience: string | undefined;
}

interface WithCredential {
  readonly credential: string;
}

export interface Authenticated extends WithCredential {
  readonly principal: Principal;
}

/** Responds to a request whose credential has not been checked yet. */
export type Answer = (exchange: PipelineRequest & Routed & WithChallenge & WithCredential) => MaybeAsync<unknown>;

/** Returns the address of sign-in for this path. Later steps send it when they refuse the credential. */
export function challenge({ request, front, path }: PipelineRequest & Routed): WithChallenge {
  const address = front.addresses.of(request.headers.host);
  return {
    metadataUrl: address && metadataUrlOf(address, path),
    audience: address && `${address.mcp}${belowMcp(path)}`,
  };
}

/**
 * Returns the credential of the request. If the header `Authorization` is missing, the header X-Muster-Credential
 * counts. Claude Code sends this header for its plugin, because it offers no sign-in if `Authorization` is set.
 */
export function credential(exchange: PipelineRequest & Routed & WithChallenge): WithCredential {
  const { request, metadataUrl } = exchange;
  const own = request.headers['x-muster-credential'] || undefined;
  const about = request.method === exchange.method ? '' : `${exchange.description} `;
  return { credential: credentialOf(request.headers.authorization ?? (own && `Bearer ${own}`), metadataUrl, about) };
}

/** Authenticates the caller by the credential of the request. @throws HttpRejection if the credential is invalid */
export async function authenticate(
  exchange: PipelineRequest & WithServices & WithChallenge & WithCredential,
): Promise<{ readonly principal: Principal }> {
  const { request, front, deployment, metadataUrl } = exchange;
  try {
    const address = addressOf(request, front.trustedProxies);
    const principal = await deployment.authenticator.authenticate(exchange.credential, address);
    requireAudience(principal, exchange.audience);
    return { principal };
  } catch (error) {
    if (!(error instanceof MusterError)) throw error;
    const { code, message, details } = error;
    if (code !== 'UNAUTHORIZED' && code !== 'TOKEN_EXPIRED') throw error;
    const whole = [message, details.suggestion].filter(Boolean).join(' ');
    throw unauthorized(whole, code, metadataUrl, { error: 'invalid_token', error_description: whole });
  }
}

/** Rejects a caller whose credential includes none of the toolsets of this path. */
export function toolsets({ selection, principal, metadataUrl }: Routed & WithChallenge & Authenticated): void {
  const asked = selection.toolsets;
  if (asked.some((toolset) => canUseToolset(principal, toolset))) return;
  const refused = new MusterError('FORBIDDEN', `Your credential does not include the toolset ${asked.join(' or ')}.`, {
    suggestion: `It includes: ${principal.toolsets?.join(', ') || 'none'}.`,
  });
  throw principal.grant === undefined ? rejectionOf(refused) : insufficientScope(refused, metadataUrl);
}

/**
 * Returns the bearer credential of a request.
 * @param about explanation of the path, for browsers and for requests with a wrong method
 * @throws HttpRejection if the credential is missing or malformed
 */
function credentialOf(authorization: string | undefined, metadataUrl: string | undefined, about: string): string {
  const missing = (what: string): HttpRejection => {
    const how = metadataUrl === undefined ? HOW_TO_AUTHENTICATE : `${SIGN_IN} ${HOW_TO_AUTHENTICATE}`;
    return unauthorized(`${about}${what} ${how}`, 'UNAUTHORIZED', metadataUrl);
  };
  const [first = '', second, ...others] = (authorization ?? '').trim().split(/ +/);
  if (first === '') throw missing('Missing credential.');
  if (!/^bearer$/i.test(first)) throw missing(withoutBearer(first, second));
  if (second === undefined) throw missing('Missing credential after "Bearer".');
  if (others.length > 0) throw missing('The credential after "Bearer" must not contain spaces.');
  if (/[${}<>"']/.test(second)) throw missing(`The credential after "Bearer" is a placeholder or quoted.`);
  return second;
}

function withoutBearer(first: string, second: string | undefined): string {
  if (second === undefined) return 'The Authorization header lacks the word "Bearer" before the credential.';
  const scheme = /^[A-Za-z-]{1,20}$/.test(first) ? `, not "${first}"` : '';
  return `The Authorization header must start with "Bearer"${scheme}.`;
}

const SIGN_IN = 'People sign in from their MCP client, which finds the sign-in page itself. Other callers use a key.';

const HOW_TO_AUTHENTICATE =
  'Send the header "Authorization: Bearer <key>", where <key> is "<apiKey>.<secret>" from ' +
  'onboarding.registerAgent or "npm run agents", or a Firebase ID token.';

/**
 * Requires an access token issued for this URL. Source: MCP 2026-07-28, "Access Token Usage"; RFC 8707, section 2.
 * @throws MusterError UNAUTHORIZED
 */
function requireAudience({ grant }: Principal, asked: string | undefined): void {
  const resource = grant?.resource;
  if (resource === undefined || asked === resource || asked?.startsWith(`${resource}/`)) return;
  throw new MusterError('UNAUTHORIZED', `The access token was issued for another address: ${resource}.`, {
    suggestion: 'Use the token at that address, or sign in at this address.',
  });
}

/** Returns the response to a missing or invalid credential. Source: RFC 6750, section 3. */
function unauthorized(message: string, code: ErrorCode, metadataUrl: string | undefined, error = {}): HttpRejection {
  const headers = { 'WWW-Authenticate': challengeText(metadataUrl, error) };
  return rejection(401, message, { headers, code: ERROR_CODES[code] });
}

/** Returns the response to a valid credential whose scope is too small. */
function insufficientScope(error: MusterError, metadataUrl: string | undefined): HttpRejection {
  const { status, message, body } = rejectionOf(error);
  const text = challengeText(metadataUrl, { error: 'insufficient_scope', error_description: message });
  return new HttpRejection(status, message, body, { 'WWW-Authenticate': text });
}

/** Tells a client where to find the sign-in metadata, and which scope to request. Source: RFC 9728, section 5.1. */
function challengeText(metadataUrl: string | undefined, error: Readonly<Record<string, string>>): string {
  const where = metadataUrl !== undefined && { resource_metadata: metadataUrl, scope: EVERY_SCOPE };
  const parameters = Object.entries({ realm: 'muster', ...where, ...error });
  return `Bearer ${parameters.map(([name, value]) => `${name}="${value.replace(/[^ !#-[\]-~]/g, '?')}"`).join(', ')}`;
}
