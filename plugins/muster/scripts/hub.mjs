// @ts-check
/** Client for the hub over plain JSON-RPC, without packages: docs/guides/json-rpc.md. */
import { spawnSync } from 'node:child_process';

const TIMEOUT_MS = 10_000;
export const endpoint = process.env.MUSTER_URL || 'http://127.0.0.1:5005/mcp';

/**
 * Whether a credential is set and no other machine can read it in transit. If the user signs in instead, hooks have
 * no credential. Source: RFC 6750, section 5.3.
 */
export const hasCredential = Boolean(process.env.MUSTER_TOKEN) && isSafe(endpoint);

/** Whether a credential is set and would be sent unencrypted to another machine. */
export const isUnencrypted = Boolean(process.env.MUSTER_TOKEN) && !hasCredential;

/** @param {string} address */
function isSafe(address) {
  return URL.canParse(address) && (new URL(address).protocol === 'https:' || isLoopback(new URL(address)));
}

/** @param {URL} url */
function isLoopback({ hostname }) {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

// Node may be set to use a proxy, which could not reach a hub on this machine and would see the credential.
if (URL.canParse(endpoint) && isLoopback(new URL(endpoint)))
  Object.assign(process.env, { NO_PROXY: '*', no_proxy: '*' });

/** Whether the environment sets a proxy for requests to the hub. */
const isBehindProxy =
  hasCredential &&
  !isLoopback(new URL(endpoint)) &&
  !isExcepted(new URL(endpoint)) &&
  ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'].some((name) => process.env[name]);

/** Returns whether `NO_PROXY` lists an address's host or one of its parent domains. @param {URL} url */
function isExcepted({ hostname }) {
  const entries = (process.env.no_proxy || process.env.NO_PROXY || '').toLowerCase().split(/[,\s]+/);
  return entries.some(
    (entry) =>
      entry === '*' || entry === hostname || (/^\*?\./.test(entry) && hostname.endsWith(entry.replace('*', ''))),
  );
}

/**
 * Environment for programs that call the hub. Node uses proxy variables only if an option enables that at its start.
 * Source: https://nodejs.org/api/cli.html#node_use_env_proxy1
 */
export const environment = isBehindProxy
  ? { ...process.env, NODE_USE_ENV_PROXY: '1', NODE_NO_WARNINGS: '1' }
  : process.env;

/** Whether this version of Node can use the environment's proxy, or needs none. */
export const canUseProxy = !isBehindProxy || process.allowedNodeEnvironmentFlags.has('--use-env-proxy');

/** If this program needs proxy support, runs the program again with it, and exits with the same exit code. */
export function restartBehindProxy() {
  if (!isBehindProxy || !canUseProxy || process.env.NODE_USE_ENV_PROXY === '1') return;
  const options = { env: environment, stdio: /** @type {const} */ ('inherit'), windowsHide: true };
  process.exit(spawnSync(process.execPath, process.argv.slice(1), options).status ?? 1);
}

/**
 * @param {string} method
 * @param {Record<string, unknown>} params
 * @returns {Promise<any>} the result, or undefined after any failure
 */
export async function call(method, params) {
  const url = new URL(endpoint);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/rpc`;
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { Authorization: `Bearer ${process.env.MUSTER_TOKEN}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      redirect: 'error', // A redirect could lead to another host, or from https to http.
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return (await response.json()).result;
  } catch {
    return undefined; // An unreachable hub must not interrupt the session.
  }
}
