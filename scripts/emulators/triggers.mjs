// @ts-check
/** Calls triggers that the functions emulator loads but never calls, such as schedules. */
import { projectId } from '../project.mjs';

/**
 * @typedef {object} Trigger
 * @property {string} id such as `us-central1-sweep`
 * @property {object} [schedule]
 * @property {{ eventType: string, resource?: string }} [eventTrigger]
 *
 * @typedef {object} Call
 * @property {number} milliseconds timeout
 * @property {Record<string, string>} [headers]
 * @property {string} [body]
 */

/** Highest generation to try. It exceeds the number of times that triggers are turned off and on again. */
const generations = 10;

/**
 * @param {string} emulator address of the functions emulator
 * @returns {Promise<Trigger[]>}
 */
export async function triggersIn(emulator) {
  const response = await fetch(`${emulator}/backends`);
  const { backends } = /** @type {{ backends: { functionTriggers: Trigger[] }[] }} */ (await response.json());
  const all = backends.flatMap((backend) => backend.functionTriggers);
  return [...new Map(all.map((trigger) => [trigger.id, trigger])).values()]; // one entry per generation of a trigger
}

/**
 * Calls a function and waits until it has ended. Whenever the triggers are turned off and on again, the emulator
 * increases the generation number of all triggers. Older generations return 204. While triggers are off, all do.
 * @param {string} emulator
 * @param {string} id
 * @param {Call} call
 * @returns {Promise<string | undefined>} an error
 */
export async function callTrigger(emulator, id, { milliseconds, headers = {}, body = '' }) {
  let isSwitchedOff = false;
  for (let generation = 0; generation < generations; generation++) {
    const url = `${emulator}/functions/projects/${projectId}/triggers/${id}-${generation}`;
    const signal = AbortSignal.timeout(milliseconds);
    const response = await fetch(url, { method: 'POST', headers, body, signal });
    await response.arrayBuffer();
    if (response.status === 404) continue;
    if (response.status !== 204) return response.ok ? undefined : `${id} failed: HTTP ${response.status}`;
    isSwitchedOff = true;
  }
  return isSwitchedOff ? `${id} is turned off` : `${id} was not found`;
}
