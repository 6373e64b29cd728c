/** Authentication and sign-in challenges. Source: docs/semantics.md#the-endpoint; RFC 6750; RFC 9728. */

import { belowMcp, metadataUrlOf } from '../../access/rules/addresses.ts';
import { canUseToolset } from '../../access/rules/permissionCheck.ts';
import { EVERY_SCOPE } from '../../identity/rules/grant.ts';
import type { Principal } from '../../identity/rules/principal.ts';
import { ERROR_CODES, type ErrorCode, MusterError } from '../../kernel/errors.ts';
import type { PipelineRequest } from './pipeline.ts';
import { HttpRejection, rejection, rejectionOf } from './rejection.ts';
import { addressOf } from './request.ts';
import type { Routed } from './route.ts';

interface WithChallenge {
  /** Sign-in challenge for the requested path; undefined if people cannot sign in at this deployment. */
  readonly challenge: Challenge | undefined;
  /** URL of the request in the form that access tokens contain. */
  readonly audience: string | undefined;
}

export interface Authenticated {
  readonly principal: Principal;
  readonly credential: string;
}

/** Returns the sign-in challenge for this path. Later steps send it when they refuse the credential. */
export function challenge({ request, deployment, path }: PipelineRequest & Routed): WithChallenge {
  const address = deployment.addresses.of(request.headers.host);
  return {
    challenge: address && { metadataUrl: metadataUrlOf(address, path), scope: EVERY_SCOPE },
    audience: address && `${address.mcp}${belowMcp(path)}`,
  };
}

/** Authenticates the caller by the credential of the request. */
export async function authenticate(exchange: PipelineRequest & Routed & WithChallenge): Promise<Authenticated> {
  const { request, deployment, challenge: where } = exchange;
  const about = request.method === exchange.method ? '' : `${exchange.description} `;
  const credential = credentialOf(request.headers.authorization, where, about);
  try {
    const address = addressOf(request, deployment.trustedProxies);
    const principal = await deployment.authenticator.authenticate(credential, address);
    requireAudience(principal, exchange.audience);
    return { principal, credential };
  } catch (error) {
    return rejectCredential(error, where);
  }
}

/** Rejects a caller whose credential includes none of the toolsets of this path. */
export function toolsets({ selection, principal, challenge: where }: Routed & WithChallenge & Authenticated): void {
  const asked = selection.toolsets;
  if (asked.some((toolset) => canUseToolset(principal, toolset))) return;
  const refused = new MusterError('FORBIDDEN', `Your credential does not include the toolset ${asked.join(' or ')}.`, {
    suggestion: `It includes: ${principal.toolsets?.join(', ') || 'none'}.`,
  });
  throw principal.grant === undefined ? rejectionOf(refused) : insufficientScope(refused, where);
}

/**
 * Returns the bearer credential of a request.
 * @param about explanation of the path, for browsers and for requests with a wrong method
 * @throws HttpRejection if the credential is missing or malformed
 */
function credentialOf(authorization: string | undefined, challenge: Challenge | undefined, about: string): string {
  const missing = (what: string): HttpRejection => {
    const how = challenge === undefined ? HOW_TO_AUTHENTICATE : `${SIGN_IN} ${HOW_TO_AUTHENTICATE}`;
    return unauthorized(`${about}${what} ${how}`, 'UNAUTHORIZED', { challenge, isGiven: false });
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

/** @throws HttpRejection if the error means that the credential is invalid, otherwise the error itself */
function rejectCredential(error: unknown, challenge: Challenge | undefined): never {
  if (!(error instanceof MusterError)) throw error;
  const { code, message, details } = error;
  if (code !== 'UNAUTHORIZED' && code !== 'TOKEN_EXPIRED') throw error;
  const whole = [message, details.suggestion].filter(Boolean).join(' ');
  throw unauthorized(whole, code, { challenge, isGiven: true });
}

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

/** Tells a client where to find the sign-in metadata, and which scope to request. Source: RFC 9728, section 5.1. */
interface Challenge {
  readonly metadataUrl: string;
  readonly scope: string;
}

/** Returns the response to a missing or (`isGiven`) invalid credential. Source: RFC 6750, section 3. */
function unauthorized(
  message: string,
  code: ErrorCode,
  sent: { readonly challenge: Challenge | undefined; readonly isGiven: boolean },
): HttpRejection {
  const error = sent.isGiven ? { error: 'invalid_token', error_description: message } : {};
  const headers = { 'WWW-Authenticate': challengeText(sent.challenge, error) };
  return rejection(401, message, { headers, code: ERROR_CODES[code] });
}

/** Returns the response to a valid credential whose scope is too small. */
function insufficientScope(error: MusterError, challenge: Challenge | undefined): HttpRejection {
  const { status, message, body } = rejectionOf(error);
  const text = challengeText(challenge, { error: 'insufficient_scope', error_description: message });
  return new HttpRejection(status, message, body, { 'WWW-Authenticate': text });
}

function challengeText(challenge: Challenge | undefined, error: Readonly<Record<string, string>>): string {
  const where = challenge && { resource_metadata: challenge.metadataUrl, scope: challenge.scope };
  const parameters = Object.entries({ realm: 'muster', ...where, ...error });
  return `Bearer ${parameters.map(([name, value]) => `${name}="${value.replace(/[^ !#-[\]-~]/g, '?')}"`).join(', ')}`;
}
