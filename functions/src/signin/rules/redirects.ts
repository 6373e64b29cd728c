/**
 * Validation of redirect URIs. Source: OAuth 2.1 (draft-ietf-oauth-v2-1), sections 2.3 and 8.4.2; RFC 8252, sections
 * 7 and 8; MCP 2026-07-28, "Authorization", "Redirect URI Validation".
 */
import { isLoopback } from '../../access/rules/addresses.ts';

const MAX_REDIRECT_LENGTH = 2000;

/**
 * Accepted redirect URIs with a private scheme. All others are refused, because on most systems any program can claim
 * such a scheme. Cursor registers this URI and two others, and fails if one of the three is refused.
 */
const PROGRAMS: readonly string[] = ['cursor://anysphere.cursor-mcp/oauth/callback'];

/** Returns why a redirect URI is refused; undefined if it is accepted. */
export function redirectFault(uri: string): string | undefined {
  if (uri.length > MAX_REDIRECT_LENGTH) return `is longer than ${MAX_REDIRECT_LENGTH} characters`;
  if (PROGRAMS.includes(uri)) return undefined;
  // A URI must not contain a backslash, but browsers accept a backslash as a slash.
  if (!URL.canParse(uri) || !/^[\x21-\x7e]+$/.test(uri) || uri.includes('\\'))
    return 'must be an absolute URI of printable ASCII characters, with no backslash';
  const { protocol, hostname, username, password } = new URL(uri);
  if (uri.includes('#')) return 'has a fragment';
  if (username !== '' || password !== '') return 'contains a user name or a password';
  // Browsers insert a missing slash, so the host would differ from the host in the URI.
  if (/^https?:(?!\/\/[^/])/i.test(uri)) return 'has no host after "//"';
  if (protocol === 'https:') return undefined;
  if (protocol === 'http:') return isLoopback(hostname) ? undefined : 'uses http, which is only accepted on localhost';
  return 'has a scheme that is not accepted: use https, or http on localhost';
}

/** Returns whether the client has registered `uri`. Loopback ports may differ (RFC 8252, section 7.3). */
export function isRegistered(uri: string, named: readonly string[]): boolean {
  if (redirectFault(uri) !== undefined) return false;
  return named.includes(uri) || named.some((one) => withoutPort(one) === withoutPort(uri));
}

/** Removes the port of a loopback address, because such ports are not compared. Other addresses stay unchanged. */
export function withoutPort(uri: string): string {
  if (!URL.canParse(uri)) return uri;
  const { protocol, hostname } = new URL(uri);
  if (protocol !== 'http:' || !isLoopback(hostname)) return uri;
  return uri.replace(/^(http:\/\/(?:\[[^\]]*\]|[^/:?[]*)):\d*/i, '$1');
}

/** Returns the host to show for a URI; if the URI is not a web address, the whole URI. */
export function shownHost(uri: string): string {
  const { protocol, host } = new URL(uri);
  return protocol === 'https:' || protocol === 'http:' ? host : uri;
}

/** Returns whether a program on the person's computer receives the response. Any program there could receive it. */
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
