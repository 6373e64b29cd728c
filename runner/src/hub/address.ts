/** Returns whether a URL names this machine. Only literal addresses and `localhost` count: no name is looked up. */
export function isLoopback({ hostname }: URL): boolean {
  // The URL parser has written every IPv4 address as four decimal numbers.
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
