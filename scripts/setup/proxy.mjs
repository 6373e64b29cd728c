// @ts-check
/** Handles proxies in environment variables. Connections to this machine bypass them; all others use them. */

const PROXIES = ['https_proxy', 'http_proxy', 'all_proxy', 'grpc_proxy'];

/** Names of this machine, which a proxy cannot reach. */
const THIS_MACHINE = ['127.0.0.1', 'localhost', '[::1]', '::1'];

/** Names of this machine in the syntax of Java's option. */
const JAVA_THIS_MACHINE = 'localhost|127.*|[::1]|';
const JAVA_OPTIONS = ['JAVA_TOOL_OPTIONS', 'JDK_JAVA_OPTIONS', '_JAVA_OPTIONS'];

/**
 * Returns variables with which programs connect to this machine directly. The https proxy is kept, for other hosts.
 * The http proxy is removed, because only this machine is called over http, and the client of the Realtime Database
 * ignores NO_PROXY. Source: firebase-js-sdk, WebSocketConnection of @firebase/database
 * @param {NodeJS.ProcessEnv} env
 * @returns {Record<string, string>}
 */
export function directToThisMachine(env) {
  return { ...withoutProxy(env), ...withoutJavaProxy(env) };
}

/** Makes this process and its child processes connect to this machine directly. */
export function reachThisMachineDirectly() {
  Object.assign(process.env, directToThisMachine(process.env));
}

/**
 * Returns the variable with which Node 22.21, 24.5 or newer itself uses the proxies of the environment. Source:
 * https://nodejs.org/api/cli.html#node_use_env_proxy1
 * @param {NodeJS.ProcessEnv} env
 * @returns {Record<string, string>}
 */
export function nodeUsesProxy(env) {
  return proxyNames(env).length > 0 ? { NODE_USE_ENV_PROXY: '1' } : {};
}

/**
 * Returns a hint about the environment's proxy, for the error message of a failed request to another host.
 * @param {NodeJS.ProcessEnv} env
 */
export function proxyHint(env) {
  const [name] = proxyNames(env).filter((one) => /^https?_/i.test(one));
  if (name === undefined) return '';
  const value = env[name] ?? '';
  const url = URL.canParse(value) ? new URL(value) : undefined; // the part before the host can contain a password
  return ` (${name} sets the proxy ${url?.host || 'of these requests'})`;
}

/**
 * Sends a request to another host through the environment's proxy, even if Node itself does not support proxies.
 * @param {string} url
 * @param {{ method?: string, signal: AbortSignal }} init
 */
export async function fetchOutside(url, init) {
  if (proxyNames(process.env).length === 0) return fetch(url, init);
  const { EnvHttpProxyAgent, fetch: fetchBy } = await import('undici'); // imported here, because a fresh clone has not installed undici yet
  return fetchBy(url, { ...init, dispatcher: new EnvHttpProxyAgent() });
}

/** @param {NodeJS.ProcessEnv} env */
function proxyNames(env) {
  return PROXIES.flatMap((name) => [name, name.toUpperCase()]).filter((name) => env[name]);
}

/** @param {NodeJS.ProcessEnv} env @returns {Record<string, string>} */
function withoutProxy(env) {
  if (proxyNames(env).length === 0) return {};
  const shared = { no_proxy: env.no_proxy || env.NO_PROXY, NO_PROXY: env.NO_PROXY || env.no_proxy };
  // If these variables are set, change them too, because programs that read them ignore NO_PROXY.
  const own = ['no_grpc_proxy', 'npm_config_no_proxy'].filter((name) => env[name]);
  const lists = [...Object.entries(shared), ...own.map((name) => /** @type {const} */ ([name, env[name]]))];
  return {
    ...Object.fromEntries(lists.map(([name, list]) => [name, withThisMachine(list)])),
    ...withoutHttpProxy(env),
  };
}

/** Without an https proxy, uses the http proxy for https too, as npm does. @param {NodeJS.ProcessEnv} env @returns {Record<string, string>} */
function withoutHttpProxy(env) {
  const https = env.https_proxy || env.HTTPS_PROXY || env.http_proxy || env.HTTP_PROXY;
  return { http_proxy: '', HTTP_PROXY: '', ...(https && { https_proxy: https, HTTPS_PROXY: https }) };
}

/** @param {string | undefined} list */
function withThisMachine(list) {
  const hosts = (list ?? '').split(/[,\s]+/).filter(Boolean);
  if (hosts.includes('*')) return '*';
  return [...hosts, ...THIS_MACHINE.filter((host) => !hosts.includes(host))].join(',');
}

/** Java bypasses proxies for this machine, unless its options list other hosts. @param {NodeJS.ProcessEnv} env @returns {Record<string, string>} */
function withoutJavaProxy(env) {
  const changed = JAVA_OPTIONS.map((name) => [name, withJavaHosts(env[name] ?? '')]);
  return Object.fromEntries(changed.filter(([name = '', options]) => options !== (env[name] ?? '')));
}

/** @param {string} options */
function withJavaHosts(options) {
  return options.replaceAll(/-D(?:http\.n|socksN)onProxyHosts=(?!["']?localhost\|127)["']?/g, `$&${JAVA_THIS_MACHINE}`);
}
