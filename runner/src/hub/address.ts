/** Returns whether a URL names this machine: by a loopback address, or as `localhost`. Resolves no names. */
export function isLoopback({ hostname }: URL): boolean {
  // The URL parser converts every notation of an IPv4 address to four decimal numbers.
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
