/** Who calls, by which credential, and how one signs in. Source: docs/semantics.md#the-endpoint; RFC 6750; RFC 9728. */

import { belowMcp, metadataUrlOf } from '../../access/rules/addresses.ts';
import { mayUse } from '../../access/rules/gate.ts';
import { EVERY_SCOPE } from '../../identity/rules/grant.ts';
import type { Principal } from '../../identity/rules/principal.ts';
import { ERROR_CODES, type ErrorCode, MusterError } from '../../kernel/errors.ts';
import type { Arrived } from './pipeline.ts';
import { Refusal, refusal, refusalOf } from './refusal.ts';
import { addressOf } from './request.ts';
import type { Routed } from './route.ts';

interface Challenged {
  /** Where one signs in for this path; undefined if nobody can. */
  readonly challenge: Challenge | undefined;
  /** The URL that the request came to, as access tokens name it. */
  readonly audience: string | undefined;
}

export interface Authenticated {
  readonly principal: Principal;
  readonly credential: string;
}

/** Finds where one signs in, which is a part of every refusal from here on that concerns the credential. */
export function challenge({ request, deployment, path }: Arrived & Routed): Challenged {
  const address = deployment.addresses.of(request.headers.host);
  return {
    challenge: address && { metadataUrl: metadataUrlOf(address, path), scope: EVERY_SCOPE },
    audience: address && `${address.mcp}${belowMcp(path)}`,
  };
}

/** Finds out whose the credential is. */
export async function authenticate(exchange: Arrived & Routed & Challenged): Promise<Authenticated> {
  const { request, deployment, challenge: where } = exchange;
  const about = request.method === exchange.method ? '' : `${exchange.whatIsHere} `;
  const credential = credentialOf(request.headers.authorization, where, about);
  try {
    const address = addressOf(request, deployment.trustedProxies);
    const principal = await deployment.authenticator.authenticate(credential, address);
    requireAudience(principal, exchange.audience);
    return { principal, credential };
  } catch (error) {
    return refuseCredential(error, where);
  }
}

/** Refuses a caller that may use none of the toolsets of the path. */
export function toolsets({
  selection,
  principal,
  challenge: where,
}: Routed & Challenged & Authenticated): void {
  const asked = selection.toolsets;
  if (asked.some((toolset) => mayUse(principal, toolset))) return;
  const refused = new MusterError('FORBIDDEN', `Your credential does not include: ${asked.join(', ')}.`, {
    suggestion: `It includes: ${principal.toolsets?.join(', ') || 'none'}.`,
  });
  throw principal.grant === undefined ? refusalOf(refused) : insufficientScope(refused, where);
}

/**
 * The credential of a request.
 * @param challenge where one signs in for it
 * @param about what is said beside, to somebody who may not know what is here
 * @throws Refusal where there is none, which says what is wrong with how it was sent
 */
function credentialOf(
  authorization: string | undefined,
  challenge: Challenge | undefined,
  about: string,
): string {
  const missing = (what: string): Refusal => {
    const how = challenge === undefined ? HOW : `${SIGN_IN} ${HOW}`;
    return unauthorised(`${about}${what} ${how}`, 'UNAUTHORIZED', { challenge, isGiven: false });
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

const SIGN_IN =
  'People sign in from their MCP client, which finds the sign-in page automatically. For machines:';

const HOW =
  'Send the header "Authorization: Bearer <key>", where <key> is "<apiKey>.<secret>" from ' +
  'onboarding.registerAgent or "npm run agents", or a Firebase ID token.';

/** @throws Refusal where the credential is to blame, else what came */
function refuseCredential(error: unknown, challenge: Challenge | undefined): never {
  if (!(error instanceof MusterError)) throw error;
  const { code, message, details } = error;
  if (code !== 'UNAUTHORIZED' && code !== 'TOKEN_EXPIRED') throw error;
  const whole = [message, details.suggestion].filter(Boolean).join(' ');
  throw unauthorised(whole, code, { challenge, isGiven: true });
}

/**
 * Tokens are good where they were issued for. Source: MCP 2026-07-28, "Access Token Usage"; RFC 8707, section 2.
 * @throws MusterError UNAUTHORIZED
 */
function requireAudience({ grant }: Principal, asked: string | undefined): void {
  const resource = grant?.resource;
  if (resource === undefined || asked === resource || asked?.startsWith(`${resource}/`)) return;
  throw new MusterError('UNAUTHORIZED', `The access token was issued for another address: ${resource}.`, {
    suggestion: 'Use it there, or sign in here.',
  });
}

/** Where a client finds out how one signs in, and what it then asks for. Source: RFC 9728, section 5.1. */
interface Challenge {
  readonly metadataUrl: string;
  readonly scope: string;
}

/** `sent`: whether a credential came at all. Source: RFC 6750, section 3. */
function unauthorised(
  message: string,
  code: ErrorCode,
  sent: { readonly challenge: Challenge | undefined; readonly isGiven: boolean },
): Refusal {
  const error = sent.isGiven ? { error: 'invalid_token', error_description: message } : {};
  const headers = { 'WWW-Authenticate': challengeText(sent.challenge, error) };
  return refusal(401, message, { headers, code: ERROR_CODES[code] });
}

/** The credential is good, and opens less than is asked for. */
function insufficientScope(error: MusterError, challenge: Challenge | undefined): Refusal {
  const { status, message, body } = refusalOf(error);
  const text = challengeText(challenge, { error: 'insufficient_scope', error_description: message });
  return new Refusal(status, message, body, { 'WWW-Authenticate': text });
}

function challengeText(challenge: Challenge | undefined, error: Readonly<Record<string, string>>): string {
  const where = challenge && { resource_metadata: challenge.metadataUrl, scope: challenge.scope };
  const parameters = Object.entries({ realm: 'muster', ...where, ...error });
  return `Bearer ${parameters.map(([name, value]) => `${name}="${quotable(value)}"`).join(', ')}`;
}

function quotable(text: string): string {
  return text.replace(/[^ !#-[\]-~]/g, '?');
}
