/** Address of the deployment and of the client, from the headers of a request. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Addresses } from '../../access/rules/addresses.ts';

/** Handles an HTTP request whose body has not been read yet. */
export type Endpoint = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Returns a header's value. If the header was sent several times, returns the first value. */
export function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Returns the deployment's URL, for use with this caller only, because the caller's headers may determine it. */
export function baseUrlOf(request: IncomingMessage, addresses: Addresses, mountPath: string | undefined): string {
  if (addresses.main !== undefined) return addresses.main.mcp;
  const sentHost = request.headers.host ?? '';
  const host = /^[A-Za-z0-9.:[\]-]{1,255}$/.test(sentHost) ? sentHost : 'localhost';
  const scheme = headerOf(request, 'x-forwarded-proto')?.split(',')[0]?.trim() === 'https' ? 'https' : 'http';
  const keepsPath = /^\/mcp(?:[/?]|$)/.test(request.url ?? '') || host.endsWith('.cloudfunctions.net');
  return `${scheme}://${host}${mountPath ?? (keepsPath ? '/mcp' : '')}`;
}

const MAX_ADDRESS_LENGTH = 45;

/**
 * Returns the client's address, for rate limits. Google's front end appends the address that it sees to
 * `X-Forwarded-For`, and each proxy in front of it has appended the address that it saw. Earlier entries can be
 * forged by the caller. A header with too few entries means that the request bypassed the proxies. Then the last
 * entry counts, which no caller can forge. Source: https://cloud.google.com/load-balancing/docs/https,
 * "X-Forwarded-For header"; https://pkg.go.dev/k8s.io/registry.k8s.io/pkg/net/clientip, which does the same on Cloud
 * Run.
 * @param trustedProxies the number of the deployment's proxies in front of Google's front end
 */
export function addressOf({ headers, socket }: IncomingMessage, trustedProxies: number): string {
  const entries = String(headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((entry) => entry.trim());
  const seen = entries.at(-1 - trustedProxies) || entries.at(-1) || socket.remoteAddress || '';
  return network(seen.slice(0, MAX_ADDRESS_LENGTH).toLowerCase());
}

/** Returns the /56 network of an IPv6 address, because one customer can use all its addresses. Source: RIPE-690. */
function network(address: string): string {
  const mapped = /^::ffff:(\d+(?:\.\d+){3})$/.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!address.includes(':') || address.includes('.')) return address;
  const parts = address.split('::', 2);
  const [head = [], tail = []] = parts.map((part) => part.split(':').filter((group) => group !== ''));
  const omitted = address.includes('::') ? Math.max(0, 8 - head.length - tail.length) : 0;
  const groups = [...head, ...Array<string>(omitted).fill('0'), ...tail].slice(0, 4);
  return groups.map((group, index) => prefixOf(group, index)).join(':');
}

/** Returns those bits of a group of an IPv6 address that are among the first 56 bits of the address. */
function prefixOf(group: string, index: number): string {
  const bits = Number.parseInt(group, 16);
  if (Number.isNaN(bits)) return group;
  return (index === 3 ? bits & 0xff00 : bits).toString(16);
}
