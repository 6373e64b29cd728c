/** The deployment's URLs, never taken from a request. Source: docs/guides/sign-in.md; RFC 9728; RFC 8414. */

export interface Address {
  /** Issuer of tokens: an origin, or the URL of a function with its path. */
  readonly issuer: string;
  /** URL of the MCP endpoint, which also serves all paths below the URL. */
  readonly mcp: string;
}

interface Known {
  /** URL that clients use, such as `https://muster.example`, with or without `/mcp`. */
  readonly publicUrl: string | undefined;
  /** URL of the function. Only requests to this URL and the paths below it reach the function. */
  readonly functionUrl: string | undefined;
}

export class Addresses {
  private readonly byHost = new Map<string, Address>();
  /** Address that clients use. If undefined, no address is configured, and people cannot sign in. */
  readonly main: Address | undefined;

  constructor({ publicUrl, functionUrl }: Known) {
    this.main = publicUrl === undefined ? undefined : addressIn(publicUrl);
    const own = functionUrl === undefined ? undefined : pathAddress(functionUrl);
    for (const address of [own, this.main].flatMap((one) => one ?? []))
      for (const host of hostsOf(address)) this.byHost.set(host, atHost(address, host));
  }

  /** Returns the address to which a request was sent; the main address if the request's host is unknown. */
  of(host: string | undefined): Address | undefined {
    if (this.main === undefined) return undefined;
    return this.at(host) ?? this.main;
  }

  at(host: string | undefined): Address | undefined {
    return this.byHost.get(host?.toLowerCase() ?? '');
  }
}

/** Returns the part of a path after the path of the MCP endpoint, such as `/todo`; empty for the endpoint itself. */
export function belowMcp(path: string): string {
  const segments = path.split('/').filter((segment) => segment !== '');
  if (segments[0] === 'mcp') segments.shift();
  return segments.map((segment) => `/${segment}`).join('');
}

/** Returns the URL of the resource metadata of a path. Source: RFC 9728, section 3.1. */
export function metadataUrlOf({ issuer, mcp }: Address, path: string): string {
  const below = issuer === mcp ? belowMcp(path) : `/mcp${belowMcp(path)}`;
  return `${issuer}/.well-known/oauth-protected-resource${below}`;
}

/** Host that the functions of many projects share. A request to its root reaches no function. */
const SHARED_HOST = /\.cloudfunctions\.net$/;

/** Parses a configured URL. Returns undefined if sign-in is unsafe there, because it has no TLS and is not local. */
function addressIn(url: string): Address | undefined {
  const known = safeUrl(url);
  if (known === undefined) return undefined;
  const { origin, hostname } = known;
  const path = known.pathname.replace(/\/+$/, '');
  if (SHARED_HOST.test(hostname)) return path === '' ? undefined : pathAddress(url);
  return path === '' || path === '/mcp' ? { issuer: origin, mcp: `${origin}/mcp` } : pathAddress(url);
}

function pathAddress(url: string): Address | undefined {
  const known = safeUrl(url);
  if (known === undefined) return undefined;
  const base = `${known.origin}${known.pathname.replace(/\/+$/, '')}`;
  return { issuer: base, mcp: base };
}

function safeUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.username !== '' || url.search !== '' || url.hash !== '') return undefined;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname)) ? url : undefined;
}

export function isLoopback(hostname: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}

/** Returns the hosts of an address. A local address has two, because clients use both names of the machine. */
function hostsOf({ issuer }: Address): readonly string[] {
  const { hostname, host } = new URL(issuer);
  if (!isLoopback(hostname)) return [host];
  return ['localhost', '127.0.0.1'].map((name) => host.replace(hostname, name));
}

function atHost(address: Address, host: string): Address {
  const at = (text: string): string => {
    const url = new URL(text);
    url.host = host;
    return url.href.replace(/\/$/, '');
  };
  return { issuer: at(address.issuer), mcp: at(address.mcp) };
}
