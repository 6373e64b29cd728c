// @ts-check
/** The hub, by plain JSON-RPC and with no packages: docs/guides/json-rpc.md of Muster. */

const PATIENCE_MS = 10_000;

/** Whether there is a credential to call with: who signs in from the client gives none to its hooks. */
export const hasCredential = Boolean(process.env.MUSTER_TOKEN);

/**
 * @param {string} method
 * @param {Record<string, unknown>} params
 * @returns {Promise<any>} the result; undefined where there is none, whatever the reason
 */
export async function call(method, params) {
  const url = new URL(process.env.MUSTER_URL || 'http://127.0.0.1:5005/mcp');
  url.pathname = `${url.pathname.replace(/\/$/, '')}/rpc`;
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { Authorization: `Bearer ${process.env.MUSTER_TOKEN}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    return (await response.json()).result;
  } catch {
    return undefined; // a hub that is away must not be in the way of the session
  }
}
