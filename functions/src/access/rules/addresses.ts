/** The deployment's addresses, never made of a request's words. Source: docs/guides/sign-in.md; RFC 9728; RFC 8414. */

export interface Address {
  /** Who issues tokens here: an origin, or a function's own address with its path. */
  readonly issuer: string;
  /** Where MCP is spoken. What is below belongs to it. */
  readonly mcp: string;
}

interface Known {
  /** Where people are told to connect: `https://muster.example`, with or without `/mcp`. */
  readonly publicUrl: string | undefined;
  /** The function's own address, of which only what is below it reaches the function. */
  readonly functionUrl: string | undefined;
}

export class Addresses {
  /** By host, with its port. */
  private readonly byHost = new Map<string, Address>();
  /** Where people are told to connect; undefined where nobody said, so that nobody can sign in. */
  readonly main: Address | undefined;

  constructor({ publicUrl, functionUrl }: Known) {
    this.main = publicUrl === undefined ? undefined : addressIn(publicUrl);
    const own = functionUrl === undefined ? undefined : pathAddress(functionUrl);
    for (const address of [own, this.main]) {
      for (const host of hostsOf(address)) this.byHost.set(host, atHost(address, host));
    }
  }

  /** The address that a request came to; the main one where it came to another. */
  of(host: string | undefined): Address | undefined {
    if (this.main === undefined) return undefined;
    return this.at(host) ?? this.main;
  }

  /** The same where that is one of the known ones. */
  at(host: string | undefined): Address | undefined {
    return this.byHost.get(host?.toLowerCase() ?? '');
  }
}

/** The rest of a path below where MCP is spoken: `/todo`, or nothing. */
export function belowMcp(path: string): string {
  const segments = path.split('/').filter((segment) => segment !== '');
  if (segments[0] === 'mcp') segments.shift();
  return segments.map((segment) => `/${segment}`).join('');
}

/** Where the metadata stands of what is at a path: RFC 9728, section 3.1; below the function's own path in its own. */
export function metadataUrlOf({ issuer, mcp }: Address, path: string): string {
  const below = issuer === mcp ? belowMcp(path) : `/mcp${belowMcp(path)}`;
  return `${issuer}/.well-known/oauth-protected-resource${below}`;
}

/** Functions of the second generation have such an address beside their own: its root leads to no function. */
const SHARED_HOST = /\.cloudfunctions\.net$/;

/** Undefined where nobody can sign in safely: without TLS, away from this machine. */
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
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))
    ? url
    : undefined;
}

export function isLoopback(hostname: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}

/** On one's own machine either name is typed. */
function hostsOf(address: Address | undefined): readonly string[] {
  if (address === undefined) return [];
  const { hostname, host } = new URL(address.issuer);
  if (!isLoopback(hostname)) return [host];
  return ['localhost', '127.0.0.1'].map((name) => host.replace(hostname, name));
}

function atHost(address: Address | undefined, host: string): Address {
  if (address === undefined) throw new Error('There is no address.');
  const at = (text: string): string => {
    const url = new URL(text);
    url.host = host;
    return url.href.replace(/\/$/, '');
  };
  return { issuer: at(address.issuer), mcp: at(address.mcp) };
}
