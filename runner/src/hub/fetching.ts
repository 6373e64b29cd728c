/** How the runner sends requests to the hub: through the proxy of the environment, and never after a redirect. */
import { EnvHttpProxyAgent } from 'undici';
import { isLoopback } from './address.ts';

/** The hub has redirected a request. The runner does not follow: the request carries its credential. */
export class Redirected extends Error {
  /** @param location the header of the response */
  constructor(url: URL, location: string | null) {
    const target =
      location !== null && URL.canParse(location, url.href) ? new URL(location, url.href) : undefined;
    super(
      `${url.origin} redirects${target === undefined ? '' : ` to ${target.origin}${target.pathname}`}. If that is the hub, give its address as --url.`,
    );
  }
}

/**
 * Returns a `fetch` for the hub at an address. It uses `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` in upper or lower
 * case; requests to this machine never use a proxy, which could not reach it and would read the credential.
 * @throws Redirected from the returned function
 */
export function fetchThroughProxy(hub: URL): typeof fetch {
  // Node's own fetch reads these variables only if the process was started with NODE_USE_ENV_PROXY.
  const isProxied = !isLoopback(hub) && namesProxy(process.env);
  const proxied = isProxied ? { dispatcher: new EnvHttpProxyAgent() } : {};
  return async (input, init) => {
    const request = Object.assign({ ...init, redirect: 'manual' as const }, proxied);
    const response = await fetch(input, request);
    if (response.status < 300 || response.status > 399 || response.status === 304) return response;
    await response.body?.cancel();
    throw new Redirected(hub, response.headers.get('location'));
  };
}

function namesProxy(env: NodeJS.ProcessEnv): boolean {
  return ['https_proxy', 'http_proxy'].some((name) => env[name] || env[name.toUpperCase()]);
}
