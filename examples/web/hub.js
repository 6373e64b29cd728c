// @ts-check
/** Calls a hub's tools (docs/guides/json-rpc.md) and receives change events (docs/guides/events.md). */
import { refresh, session } from './signIn.js';

/**
 * Calls a tool and returns its result.
 * @param {string} method such as `coordination.create_task`
 * @param {Record<string, unknown>} [params]
 * @returns {Promise<any>}
 */
export async function call(method, params = {}) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await send('/rpc', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
  const { result, error } = await response.json();
  if (error) throw new Error([error.message, error.data?.suggestion].filter(Boolean).join(' '));
  return result;
}

/**
 * Calls `changed` after every change of the workspace's queue, until the signal aborts. The hub ends a stream after a
 * few minutes, so the loop opens a new one.
 * @param {() => void} changed
 * @param {AbortSignal} signal
 */
export async function follow(changed, signal) {
  const workspace = session()?.workspace ?? 'default';
  const path = workspace === 'default' ? 'tasks/queue' : `workspaces/${workspace}/queue`;
  while (!signal.aborted) {
    const { cursor } = await call('firebase.subscribe', {
      subscriptionId: `page-${workspace}`,
      database: 'realtime',
      path,
      includeInitial: false,
    });
    changed(); // The queue may have changed before the subscription started.
    const search = new URLSearchParams({ subscriptionId: `page-${workspace}`, cursor });
    const headers = { Accept: 'text/event-stream' };
    const { body } = await send('/events', { headers, signal }, search);
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let read = await reader?.read(); read && !read.done; read = await reader?.read())
      if (read.value.includes('data:')) changed();
  }
}

/**
 * @param {string} path relative to the endpoint
 * @param {RequestInit} request
 * @param {URLSearchParams} [search]
 */
async function send(path, request, search = new URLSearchParams()) {
  let response = await sendOnce(path, request, search);
  if (response.status === 401) {
    await refresh();
    response = await sendOnce(path, request, search);
  }
  if (response.ok) return response;
  const refusal = await response.json().catch(() => ({}));
  throw new Error(refusal.error?.message ?? `The hub responded with HTTP ${response.status}.`);
}

/** @param {string} path @param {RequestInit} request @param {URLSearchParams} search */
function sendOnce(path, request, search) {
  const { endpoint = '', workspace = '', accessToken } = session() ?? {};
  const url = new URL(`${endpoint}${path}`);
  url.search = String(new URLSearchParams([['workspace', workspace], ...search]));
  return fetch(url, { ...request, headers: { ...request.headers, Authorization: `Bearer ${accessToken}` } });
}
