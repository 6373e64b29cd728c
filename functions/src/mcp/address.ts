import type { IncomingMessage } from 'node:http';

const LONGEST = 45;

/**
 * The address that a request comes from. Google's front end adds the one that it sees to the end of
 * `X-Forwarded-For`, or puts it there alone; what stands before it are the caller's own words. Behind a load
 * balancer or Firebase Hosting it is that one's, and all who come by it count as one.
 * Source: https://cloud.google.com/load-balancing/docs/https, "X-Forwarded-For header";
 * https://pkg.go.dev/k8s.io/registry.k8s.io/pkg/net/clientip, which counts on the same at Cloud Run.
 */
export function addressOf({ headers, socket }: IncomingMessage): string {
  const forwarded = headers['x-forwarded-for'];
  const list = Array.isArray(forwarded) ? forwarded.join() : forwarded;
  const last = list?.slice(list.lastIndexOf(',') + 1).trim();
  return network((last || socket.remoteAddress || '').slice(0, LONGEST));
}

/** Of IPv6 the first half: whoever has one address has all that begin with it. */
function network(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address;
  const [before = '', after = ''] = address.toLowerCase().split('::', 2);
  const [head, tail] = [before, after].map((part) => part.split(':').filter((group) => group !== ''));
  const missing = address.includes('::') ? 8 - (head?.length ?? 0) - (tail?.length ?? 0) : 0;
  const groups = [
    ...(head ?? []),
    ...Array.from({ length: Math.max(0, missing) }, () => '0'),
    ...(tail ?? []),
  ];
  return groups.slice(0, 4).join(':');
}
