/**
 * Where the answer to a sign-in may lead. Source: OAuth 2.1 (draft-ietf-oauth-v2-1), sections 2.3 and 8.4.2; RFC 8252,
 * sections 7 and 8; MCP 2026-07-28, "Authorization", "Redirect URI Validation".
 */
import { isLoopback } from '../../access/rules/addresses.ts';

const LONGEST = 2000;

/**
 * Addresses of programs, which their systems hand on to them, that are taken beside https and this machine. No other:
 * on most systems any program may take any such scheme. Cursor registers this one with two others, and fails with all
 * of them where it is refused.
 */
const PROGRAMS: readonly string[] = ['cursor://anysphere.cursor-mcp/oauth/callback'];

/** What is wrong with an address to lead back to; undefined where nothing is. */
export function redirectFault(uri: string): string | undefined {
  if (uri.length > LONGEST) return `is longer than ${LONGEST} characters`;
  if (PROGRAMS.includes(uri)) return undefined;
  // A backslash is no part of a URI, and a slash to browsers alone.
  if (!URL.canParse(uri) || !/^[\x21-\x7e]+$/.test(uri) || uri.includes('\\'))
    return 'is no absolute URI of printable ASCII characters without a backslash';
  const { protocol, hostname, username, password } = new URL(uri);
  if (uri.includes('#')) return 'has a fragment';
  if (username !== '' || password !== '') return 'has a user or a password';
  // Browsers put in slashes that are missing.
  if (/^https?:(?!\/\/[^/])/i.test(uri)) return 'has no host after two slashes';
  if (protocol === 'https:') return undefined;
  if (protocol === 'http:')
    return isLoopback(hostname) ? undefined : 'is http, which is taken on localhost alone';
  return 'has a scheme that is not taken: use https, or http on localhost';
}

/** Whether the client has named `uri`: exactly, but for a loopback port, as any may be free (RFC 8252, section 7.3). */
export function isNamed(uri: string, named: readonly string[]): boolean {
  if (redirectFault(uri) !== undefined) return false;
  return named.includes(uri) || named.some((one) => isSameLoopback(one, uri));
}

function isSameLoopback(one: string, other: string): boolean {
  return withoutPort(one) === withoutPort(other);
}

/** An address without the port that does not count: of a program on the person's machine. Any other as it is. */
export function withoutPort(uri: string): string {
  if (!URL.canParse(uri)) return uri;
  const { protocol, hostname } = new URL(uri);
  if (protocol !== 'http:' || !isLoopback(hostname)) return uri;
  return uri.replace(/^(http:\/\/(?:\[[^\]]*\]|[^/:?[]*)):\d*/i, '$1');
}

/** For people: whose address it is. */
export function shownHost(uri: string): string {
  const { protocol, host } = new URL(uri);
  return protocol === 'https:' || protocol === 'http:' ? host : uri;
}

/** Whether a program on the person's own machine listens there, which can be any. */
export function isOnThisMachine(uri: string): boolean {
  const { protocol, hostname } = new URL(uri);
  return protocol === 'http:' ? isLoopback(hostname) : protocol !== 'https:';
}

/** The address with the answer in its query. */
export function answered(uri: string, answer: Readonly<Record<string, string | undefined>>): string {
  const url = new URL(uri);
  for (const [name, value] of Object.entries(answer))
    if (value !== undefined) url.searchParams.set(name, value);
  return url.href;
}
