// @ts-check
/** The hub, by plain JSON-RPC and with no packages: docs/guides/json-rpc.md of Muster. */
import { spawnSync } from 'node:child_process';

const PATIENCE_MS = 10_000;

const ENDPOINT = process.env.MUSTER_URL || 'http://127.0.0.1:5005/mcp';

/**
 * Whether there is a credential to call with, and no other machine can read it on its way. A person who signs in from the
 * client gives none to its hooks. Source: RFC 6750, section 5.3.
 */
export const hasCredential = Boolean(process.env.MUSTER_TOKEN) && isSafe(ENDPOINT);

/** @param {string} address */
function isSafe(address) {
  return URL.canParse(address) && (new URL(address).protocol === 'https:' || isLoopback(new URL(address)));
}

/** @param {URL} url */
function isLoopback({ hostname }) {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

// A proxy cannot reach this machine, and would read the credential. Node may have been told to use one.
if (URL.canParse(ENDPOINT) && isLoopback(new URL(ENDPOINT)))
  Object.assign(process.env, { NO_PROXY: '*', no_proxy: '*' });

/** Whether the environment names a proxy that a request to the hub may need. */
const isBehindProxy =
  hasCredential &&
  !isLoopback(new URL(ENDPOINT)) &&
  !isExcepted(new URL(ENDPOINT)) &&
  ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'].some((name) => process.env[name]);

/** Whether `NO_PROXY` names the host of an address, or a domain above it. @param {URL} url */
function isExcepted({ hostname }) {
  const entries = (process.env.no_proxy || process.env.NO_PROXY || '').toLowerCase().split(/[,\s]+/);
  return entries.some(
    (entry) =>
      entry === '*' ||
      entry === hostname ||
      (/^\*?\./.test(entry) && hostname.endsWith(entry.replace('*', ''))),
  );
}

/**
 * Environment for a program that calls the hub. Node reads the variables of a proxy only if it is told to at its start.
 * Source: https://nodejs.org/api/cli.html#node_use_env_proxy1
 */
export const environment = isBehindProxy
  ? { ...process.env, NODE_USE_ENV_PROXY: '1', NODE_NO_WARNINGS: '1' }
  : process.env;

/** Whether this Node can use the proxy of the environment, once it is told to. */
export const canUseProxy = !isBehindProxy || process.allowedNodeEnvironmentFlags.has('--use-env-proxy');

/** Runs this program again if it has to be told about a proxy, and ends as that ends. */
export function restartBehindProxy() {
  if (!isBehindProxy || !canUseProxy || process.env.NODE_USE_ENV_PROXY === '1') return;
  const options = { env: environment, stdio: /** @type {const} */ ('inherit'), windowsHide: true };
  process.exit(spawnSync(process.execPath, process.argv.slice(1), options).status ?? 1);
}

/**
 * @param {string} method
 * @param {Record<string, unknown>} params
 * @returns {Promise<any>} the result; undefined where there is none, whatever the reason
 */
export async function call(method, params) {
  const url = new URL(ENDPOINT);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/rpc`;
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { Authorization: `Bearer ${process.env.MUSTER_TOKEN}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      redirect: 'error', // it could lead to another host, or away from https
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    return (await response.json()).result;
  } catch {
    return undefined; // a hub that is away must not be in the way of the session
  }
}
