/** Reading a request's headers: where it came to, whose credential it has, which address sent it. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Addresses } from '../../access/rules/addresses.ts';
import { MusterError } from '../../kernel/errors.ts';
import { type Challenge, type Refusal, unauthorised } from './refusal.ts';

/** @param request one whose body nobody has touched */
export type Endpoint = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** A header's one value; the first where it came several times. */
export function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/**
 * Where the caller finds this deployment. Made from what the caller sent unless configured, so it may be
 * shown to the caller and nothing else.
 */
export function baseUrlOf(
  request: IncomingMessage,
  addresses: Addresses,
  mountPath: string | undefined,
): string {
  if (addresses.main !== undefined) return addresses.main.mcp;
  const sentHost = request.headers.host ?? '';
  const host = /^[A-Za-z0-9.:[\]-]{1,255}$/.test(sentHost) ? sentHost : 'localhost';
  const scheme = headerOf(request, 'x-forwarded-proto')?.split(',')[0]?.trim() === 'https' ? 'https' : 'http';
  const keepsPath = /^\/mcp(?:[/?]|$)/.test(request.url ?? '') || host.endsWith('.cloudfunctions.net');
  return `${scheme}://${host}${mountPath ?? (keepsPath ? '/mcp' : '')}`;
}

/**
 * The credential of a request.
 * @param challenge where one signs in for it
 * @param about what is said beside, to somebody who may not know what is here
 * @throws Refusal where there is none, which says what is wrong with how it was sent
 */
export function credentialOf(
  authorization: string | undefined,
  challenge: Challenge | undefined,
  about = '',
): string {
  const missing = (what: string): Refusal => {
    const how = challenge === undefined ? HOW : `${SIGN_IN} ${HOW}`;
    return unauthorised(`${about}${what} ${how}`, 'UNAUTHORIZED', { challenge, isGiven: false });
  };
  const [first = '', second, ...others] = (authorization ?? '').trim().split(/ +/);
  if (first === '') throw missing('There is no credential.');
  if (!/^bearer$/i.test(first)) throw missing(withoutBearer(first, second));
  if (second === undefined) throw missing('After "Bearer" there is no credential.');
  if (others.length > 0) throw missing('After "Bearer" there are several words, and a credential is one.');
  if (/[${}<>"']/.test(second)) throw missing(`What comes after "Bearer" is a placeholder or is quoted.`);
  return second;
}

function withoutBearer(first: string, second: string | undefined): string {
  if (second === undefined) return 'The header Authorization lacks the word "Bearer" before the credential.';
  const scheme = /^[A-Za-z-]{1,20}$/.test(first) ? ` "${first}"` : '';
  return `The header Authorization begins with another word${scheme} than "Bearer".`;
}

const SIGN_IN = 'A person signs in from their MCP client, which finds the way by itself. For machines:';

const HOW =
  'Send the header "Authorization: Bearer <key>", where <key> is "<apiKey>.<secret>" of ' +
  'onboarding.registerAgent or of "npm run agents", or a Firebase ID token.';

/** @throws Refusal where the credential is to blame, else what came */
export function refuseCredential(error: unknown, challenge: Challenge | undefined): never {
  if (!(error instanceof MusterError)) throw error;
  const { code, message, details } = error;
  if (code !== 'UNAUTHORIZED' && code !== 'TOKEN_EXPIRED') throw error;
  const whole = [message, details.suggestion].filter(Boolean).join(' ');
  throw unauthorised(whole, code, { challenge, isGiven: true });
}

const LONGEST_ADDRESS = 45;

/**
 * The address that a request comes from. Google's front end adds the one that it sees to the end of
 * `X-Forwarded-For`, or puts it there alone; what stands before it are the caller's own words. Behind a load
 * balancer or Firebase Hosting it is that one's, and all who come by it count as one.
 * Source: https://cloud.google.com/load-balancing/docs/https, "X-Forwarded-For header";
 * https://pkg.go.dev/k8s.io/registry.k8s.io/pkg/net/clientip, which counts on the same at Cloud Run.
 */
export function addressOf({ headers, socket }: IncomingMessage): string {
  const last = String(headers['x-forwarded-for'] ?? '')
    .split(',')
    .at(-1)
    ?.trim();
  return network((last || socket.remoteAddress || '').slice(0, LONGEST_ADDRESS));
}

/** Of IPv6 the first half: whoever has one address has all that begin with it. */
function network(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address;
  const parts = address.toLowerCase().split('::', 2);
  const [head = [], tail = []] = parts.map((part) => part.split(':').filter((group) => group !== ''));
  const omitted = address.includes('::') ? Math.max(0, 8 - head.length - tail.length) : 0;
  return [...head, ...Array<string>(omitted).fill('0'), ...tail].slice(0, 4).join(':');
}
