// @ts-check
import { setTimeout as delay } from 'node:timers/promises';

const patienceMilliseconds = 120_000;

/** A client's first calls come together, and some give up on an endpoint that takes seconds to answer them. */
const warmInstances = 4;

/**
 * Waits until the endpoint answers, and has some instances of it started.
 * @param {string} url
 */
export async function endpointAnswers(url) {
  await firstAnswer(url);
  await Promise.all(Array.from({ length: warmInstances }, () => answerOf(url)));
}

/**
 * That there is no such function, or that it fails, is no answer.
 * @param {string} url
 */
async function firstAnswer(url) {
  const deadline = Date.now() + patienceMilliseconds;
  let last = 'nothing';
  while (Date.now() < deadline) {
    try {
      const status = await answerOf(url);
      if (status < 500 && status !== 404) return;
      last = `HTTP ${status}`;
    } catch (error) {
      last = error instanceof Error ? error.message : String(error);
    }
    await delay(500);
  }
  throw new Error(`${url} does not answer (${last})`);
}

/** What a browser asks before it calls: anybody may, so that it leaves no refusal in the log. */
const preflight = {
  method: 'OPTIONS',
  headers: { Origin: 'http://localhost', 'Access-Control-Request-Method': 'POST' },
};

/** @param {string} url */
async function answerOf(url) {
  const { status } = await fetch(url, { ...preflight, signal: AbortSignal.timeout(patienceMilliseconds) });
  return status;
}
