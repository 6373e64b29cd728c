// @ts-check
import { setTimeout as delay } from 'node:timers/promises';

const timeoutMs = 120_000;

/** Processes to start in advance, because a client's first calls are concurrent and may time out within seconds. */
const warmInstances = 4;

/**
 * Waits until the endpoint responds, and starts some processes of its function in advance.
 * @param {string} url
 */
export async function endpointReady(url) {
  await firstResponse(url);
  await Promise.all(Array.from({ length: warmInstances }, () => responseOf(url)));
}

/**
 * Waits until a response is neither an error nor 404, which means that the function is not loaded yet.
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

/** Sends a browser's preflight request. It needs no credential, so the log contains no refused call. */
const preflight = {
  method: 'OPTIONS',
  headers: { Origin: 'http://localhost', 'Access-Control-Request-Method': 'POST' },
};

/** @param {string} url */
async function responseOf(url) {
  const { status } = await fetch(url, { ...preflight, signal: AbortSignal.timeout(timeoutMs) });
  return status;
}
