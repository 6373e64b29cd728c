/** Sends requests to the hub through the environment's proxy, without following redirects. */
import { Agent, type Dispatcher, EnvHttpProxyAgent, fetch as fetchBy } from 'undici';
import { isLoopback } from './address.ts';

/** Thrown if the hub redirects a request. Redirects are not followed, because the request contains a credential. */
export class Redirected extends Error {
  /** @param location header of the response */
  constructor(url: URL, location: string | null) {
    const target = location !== null && URL.canParse(location, url.href) ? new URL(location, url.href) : undefined;
    super(
      `${url.origin} redirects${target === undefined ? '' : ` to ${target.origin}${target.pathname}`}. If the hub is at the other address, set --url to that address.`,
    );
  }
}

/**
 * Returns a `fetch` for the hub. It uses the variables `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, in upper or lower
 * case. Requests to this machine bypass the proxy, because a proxy could read the credential.
 * @throws Redirected, thrown by the returned function if the hub redirects
 */
export function fetchThroughProxy(hub: URL): typeof fetch {
  const proxies = isLoopback(hub) ? {} : proxiesOf(process.env);
  const dispatcher = dispatcherFor(proxies);
  return async (input, init) => {
    const response = await send(input, { ...init, redirect: 'manual' }, dispatcher).catch((error: unknown) => {
      throw explained(error, proxies);
    });
    if (response.status < 300 || response.status > 399 || response.status === 304) return response;
    await response.body?.cancel();
    throw new Redirected(hub, response.headers.get('location'));
  };
}

interface Proxies {
  /** Name of the environment variable that sets the proxy. */
  readonly name?: string;
  readonly httpProxy?: string;
  readonly httpsProxy?: string;
}

/** Returns the environment's proxies. Like curl, it assumes http for a proxy without a scheme. */
function proxiesOf(env: NodeJS.ProcessEnv): Proxies {
  const [https, http] = ['https_proxy', 'http_proxy'].map((name) => [name, name.toUpperCase()].find((one) => env[one]));
  const name = https ?? http;
  if (name === undefined) return {};
  const addressIn = (variable: string | undefined) => {
    const value = variable === undefined ? '' : (env[variable] ?? '').trim();
    return value === '' || value.includes('://') ? value : `http://${value}`;
  };
  return { name, httpProxy: addressIn(http), httpsProxy: addressIn(https) };
}

/** Returns a dispatcher of undici that uses the proxy. Node's own fetch uses a proxy only with an option. */
function dispatcherFor({ name, ...proxies }: Proxies): Dispatcher {
  if (name === undefined) return new Agent();
  const { emitWarning } = process;
  process.emitWarning = () => undefined; // Hides undici's warning that EnvHttpProxyAgent is experimental.
  try {
    return new EnvHttpProxyAgent(proxies);
  } catch (error) {
    throw new Error(`${name} is not a proxy address: ${messageOf(error)}. Use the form http://proxy:3128.`);
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** Sends a request with undici's `fetch`, because Node's own `fetch` may not accept undici's dispatcher. */
async function send(input: Parameters<typeof fetch>[0], init: RequestInit, dispatcher: Dispatcher): Promise<Response> {
  const url = input instanceof Request ? input.url : input;
  const request = Object.assign({ ...init }, { dispatcher });
  return Object.assign(await fetchBy(url, request));
}

/** Returns the error with a message that names the proxy as a possible cause. */
function explained(error: unknown, { name, httpProxy, httpsProxy }: Proxies): unknown {
  if (name === undefined || !(error instanceof TypeError)) return error;
  const address = httpsProxy || httpProxy || '';
  const host = URL.canParse(address) ? new URL(address).host : address; // Without the user and password.
  const cause = error.cause ?? error;
  return new TypeError(`${messageOf(cause)} (${name} is set to the proxy ${host})`, { cause });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}
