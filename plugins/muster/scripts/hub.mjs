// @ts-check
/** The hub, by plain JSON-RPC and with no packages: docs/guides/json-rpc.md of Muster. */

const PATIENCE_MS = 10_000;

const ENDPOINT = process.env.MUSTER_URL || 'http://127.0.0.1:5005/mcp';

/**
 * Whether there is a credential to call with, and no other machine can read it on its way. A person who signs in from the
 * client gives none to its hooks. Source: RFC 6750, section 5.3.
 */
export const hasCredential = Boolean(process.env.MUSTER_TOKEN) && isSafe(ENDPOINT);

/** @param {string} address */
function isSafe(address) {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
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
