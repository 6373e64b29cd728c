// @ts-check
/** What the functions emulator has loaded and does not call by itself. */
import { projectId } from '../project.mjs';

/**
 * @typedef {object} Trigger
 * @property {string} id such as `us-central1-sweep`
 * @property {object} [schedule]
 * @property {{ eventType: string, resource?: string }} [eventTrigger]
 *
 * @typedef {object} Call
 * @property {number} milliseconds after which nobody waits for its answer any longer
 * @property {Record<string, string>} [headers]
 * @property {string} [body]
 */

/** Beyond any count of how often the triggers are switched off and on. */
const generations = 10;

/**
 * @param {string} emulator the functions'
 * @returns {Promise<Trigger[]>}
 */
export async function triggersIn(emulator) {
  const response = await fetch(`${emulator}/backends`);
  const { backends } = /** @type {{ backends: { functionTriggers: Trigger[] }[] }} */ (await response.json());
  const all = backends.flatMap((backend) => backend.functionTriggers);
  return [...new Map(all.map((trigger) => [trigger.id, trigger])).values()]; // one entry a generation
}

/**
 * Calls a function and waits until it has ended. The emulator numbers its triggers' generations: the count rises when
 * they are switched off and on again, and those before answer 204, as all do while they are switched off.
 * @param {string} emulator
 * @param {string} id
 * @param {Call} call
 * @returns {Promise<string | undefined>} what went wrong
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
  return isSwitchedOff ? `${id} is switched off` : `${id} was not found`;
}
