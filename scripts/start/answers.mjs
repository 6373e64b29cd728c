// @ts-check
import { setTimeout as delay } from 'node:timers/promises';

const patienceMilliseconds = 120_000;

/**
 * Waits until the endpoint answers, which also starts its first instance. That it refuses a GET without a credential
 * is an answer; that there is no such function, or that it fails, is none.
 * @param {string} url
 */
export async function endpointAnswers(url) {
  const deadline = Date.now() + patienceMilliseconds;
  let last = 'nothing';
  while (Date.now() < deadline) {
    try {
      const { status } = await fetch(url, { signal: AbortSignal.timeout(60_000) });
      if (status < 500 && status !== 404) return;
      last = `HTTP ${status}`;
    } catch (error) {
      last = error instanceof Error ? error.message : String(error);
    }
    await delay(500);
  }
  throw new Error(`${url} does not answer (${last})`);
}
