// @ts-check
import { setTimeout as delay } from 'node:timers/promises';

const timeoutMs = 120_000;

/** Several, because a client's first calls are concurrent and some clients give up after a few seconds. */
const warmInstances = 4;

/**
 * Waits until the endpoint responds, and warms up some instances.
 * @param {string} url
 */
export async function endpointReady(url) {
  await firstResponse(url);
  await Promise.all(Array.from({ length: warmInstances }, () => responseOf(url)));
}

/**
 * Waits for a response other than an error or a missing function.
 * @param {string} url
 */
async function firstResponse(url) {
  const deadline = Date.now() + timeoutMs;
  let last = 'nothing';
  while (Date.now() < deadline) {
    try {
      const status = await responseOf(url);
      if (status < 500 && status !== 404) return;
      last = `HTTP ${status}`;
    } catch (error) {
      last = error instanceof Error ? error.message : String(error);
    }
    await delay(500);
  }
  throw new Error(`${url} does not respond (${last})`);
}

/** Preflight request of a browser: it needs no credential, so it leaves no refusal in the log. */
const preflight = {
  method: 'OPTIONS',
  headers: { Origin: 'http://localhost', 'Access-Control-Request-Method': 'POST' },
};

/** @param {string} url */
async function responseOf(url) {
  const { status } = await fetch(url, { ...preflight, signal: AbortSignal.timeout(timeoutMs) });
  return status;
}
