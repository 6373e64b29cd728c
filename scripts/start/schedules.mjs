// @ts-check
import { host } from '../emulators/ports.mjs';
import { projectId } from '../project.mjs';

/** Every schedule ticks once a minute, whatever it says: they are all written to be run too often or too late. */
const tickMilliseconds = 60_000;

/**
 * Calls the scheduled functions, which the emulator loads but never starts.
 * @param {number} functionsPort
 * @param {import('../emulators/output.mjs').Output} output
 */
export function tickSchedules(functionsPort, output) {
  const emulator = `http://${host}:${functionsPort}`;
  const tick = async () => {
    try {
      for (const failure of await tickOnce(emulator)) output.line('schedules', failure);
    } catch (error) {
      output.line('schedules', `the tick failed: ${error instanceof Error ? error.message : error}`);
    }
  };
  setInterval(tick, tickMilliseconds);
}

/**
 * Runs every schedule once, to its end.
 * @param {string} emulator the functions'
 * @returns {Promise<string[]>} what went wrong
 */
export async function tickOnce(emulator) {
  const ids = await scheduledFunctions(emulator); // asked each time: a function may have been added since
  const failures = await Promise.all(ids.map((id) => call(emulator, id)));
  return failures.flatMap((failure) => failure ?? []);
}

/** @param {string} emulator @returns {Promise<string[]>} such as `us-central1-sweep` */
export async function scheduledFunctions(emulator) {
  const response = await fetch(`${emulator}/backends`);
  const answer = /** @type {{ backends: { functionTriggers: { id: string, schedule?: object }[] }[] }} */ (
    await response.json()
  );
  return answer.backends
    .flatMap((backend) => backend.functionTriggers)
    .filter((trigger) => trigger.schedule !== undefined)
    .map((trigger) => trigger.id);
}

/**
 * The emulator numbers its triggers' generations; the count rises when they are switched off and on again.
 * @param {string} emulator
 * @param {string} id
 * @returns {Promise<string | undefined>} what went wrong
 */
async function call(emulator, id) {
  for (let generation = 0; generation < 10; generation++) {
    const url = `${emulator}/functions/projects/${projectId}/triggers/${id}-${generation}`;
    const { status } = await fetch(url, {
      method: 'POST',
      signal: AbortSignal.timeout(tickMilliseconds * 5),
    });
    if (status === 404) continue;
    return status >= 400 ? `${id} failed: HTTP ${status}` : undefined;
  }
  return `${id} was not found`;
}
