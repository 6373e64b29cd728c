/** Requests to the hub, through the environment's proxy, without following redirects. */
import { Agent, type Dispatcher, EnvHttpProxyAgent, fetch as fetchBy } from 'undici';
import { isLoopback } from './address.ts';

/** The hub redirected a request. The runner does not follow, because the request carries a credential. */
export class Redirected extends Error {
  /** @param location header of the response */
  constructor(url: URL, location: string | null) {
    const target = location !== null && URL.canParse(location, url.href) ? new URL(location, url.href) : undefined;
    super(
      `${url.origin} redirects${target === undefined ? '' : ` to ${target.origin}${target.pathname}`}. If that is the hub, set --url to its address.`,
    );
  }
}

/**
 * Returns a `fetch` for the hub at an address. It uses `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, in upper or lower
 * case. Requests to this machine never use a proxy, which could not reach it and could read the credential.
 * @throws Redirected from the returned function
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
  /** Name of the variable with the proxy. */
  readonly name?: string;
  readonly httpProxy?: string;
  readonly httpsProxy?: string;
}

/** Returns the environment's proxies. Like curl, uses http for one without a scheme. */
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

/** Undici's dispatchers; Node's own read the variables only if an option enables it at start. */
function dispatcherFor({ name, ...proxies }: Proxies): Dispatcher {
  if (name === undefined) return new Agent();
  const { emitWarning } = process;
  process.emitWarning = () => undefined; // Hides the warning that the class is experimental.
  try {
    return new EnvHttpProxyAgent(proxies);
  } catch (error) {
    throw new Error(`${name} is not a proxy address: ${messageOf(error)}. Use the form http://proxy:3128.`);
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** Uses the `fetch` of the same undici: another version may not accept the dispatcher. */
async function send(input: Parameters<typeof fetch>[0], init: RequestInit, dispatcher: Dispatcher): Promise<Response> {
  const url = input instanceof Request ? input.url : input;
  const request = Object.assign({ ...init }, { dispatcher });
  return Object.assign(await fetchBy(url, request));
}

/** Adds the proxy, as a possible cause, to an error. */
function explained(error: unknown, { name, httpProxy, httpsProxy }: Proxies): unknown {
  if (name === undefined || !(error instanceof TypeError)) return error;
  const address = httpsProxy || httpProxy || '';
  const host = URL.canParse(address) ? new URL(address).host : address; // Without the password.
  const cause = error.cause ?? error;
  return new TypeError(`${messageOf(cause)} (${name} is set to the proxy ${host})`, { cause });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}
