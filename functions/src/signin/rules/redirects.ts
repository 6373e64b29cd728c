/**
 * Validation of redirect URIs. Source: OAuth 2.1 (draft-ietf-oauth-v2-1), sections 2.3 and 8.4.2; RFC 8252, sections
 * 7 and 8; MCP 2026-07-28, "Authorization", "Redirect URI Validation".
 */
import { isLoopback } from '../../access/rules/addresses.ts';

const MAX_REDIRECT_LENGTH = 2000;

/**
 * Accepted redirect URIs with a private scheme. There are no others, because on most systems any program can claim
 * any such scheme. Cursor registers this one together with two others, and fails if one of the three is refused.
 */
const PROGRAMS: readonly string[] = ['cursor://anysphere.cursor-mcp/oauth/callback'];

/** Returns why a redirect URI is not accepted; undefined if it is. */
export function redirectFault(uri: string): string | undefined {
  if (uri.length > MAX_REDIRECT_LENGTH) return `is longer than ${MAX_REDIRECT_LENGTH} characters`;
  if (PROGRAMS.includes(uri)) return undefined;
  // A URI cannot contain a backslash, but browsers treat one as a slash.
  if (!URL.canParse(uri) || !/^[\x21-\x7e]+$/.test(uri) || uri.includes('\\'))
    return 'is not an absolute URI of printable ASCII characters without a backslash';
  const { protocol, hostname, username, password } = new URL(uri);
  if (uri.includes('#')) return 'has a fragment';
  if (username !== '' || password !== '') return 'has a user or a password';
  // Browsers insert missing slashes.
  if (/^https?:(?!\/\/[^/])/i.test(uri)) return 'has no host after two slashes';
  if (protocol === 'https:') return undefined;
  if (protocol === 'http:') return isLoopback(hostname) ? undefined : 'is http, which is only accepted on localhost';
  return 'has a scheme that is not accepted: use https, or http on localhost';
}

/** Whether the client registered `uri`: exactly, except for a loopback port (RFC 8252, section 7.3). */
export function isRegistered(uri: string, named: readonly string[]): boolean {
  if (redirectFault(uri) !== undefined) return false;
  return named.includes(uri) || named.some((one) => isSameLoopback(one, uri));
}

function isSameLoopback(one: string, other: string): boolean {
  return withoutPort(one) === withoutPort(other);
}

/** Removes the port of a loopback address, which is not compared. Other addresses are returned unchanged. */
export function withoutPort(uri: string): string {
  if (!URL.canParse(uri)) return uri;
  const { protocol, hostname } = new URL(uri);
  if (protocol !== 'http:' || !isLoopback(hostname)) return uri;
  return uri.replace(/^(http:\/\/(?:\[[^\]]*\]|[^/:?[]*)):\d*/i, '$1');
}

/** Returns the host for display; the whole URI if it is not a web address. */
export function shownHost(uri: string): string {
  const { protocol, host } = new URL(uri);
  return protocol === 'https:' || protocol === 'http:' ? host : uri;
}

/** Whether a program on the person's own machine receives the response. It can be any program. */
export function isOnThisMachine(uri: string): boolean {
  const { protocol, hostname } = new URL(uri);
  return protocol === 'http:' ? isLoopback(hostname) : protocol !== 'https:';
}

/** Adds the response parameters to the query of a redirect URI. */
export function withParameters(uri: string, answer: Readonly<Record<string, string | undefined>>): string {
  const url = new URL(uri);
  for (const [name, value] of Object.entries(answer)) if (value !== undefined) url.searchParams.set(name, value);
  return url.href;
}
