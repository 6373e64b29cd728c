// @ts-check
import { callTrigger, triggersIn } from '../emulators/triggers.mjs';

/** Every schedule runs once per minute, which is allowed because all schedules tolerate running too often or late. */
const tickMilliseconds = 60_000;

/** Time limit of a schedule, longer than the timeout of any deployed schedule. */
const callMilliseconds = 600_000;

/**
 * Calls the scheduled functions, which the emulator loads but never runs.
 * @param {string} emulator address of the functions emulator
 * @param {import('../emulators/output.mjs').Output} output
 */
export function tickSchedules(emulator, output) {
  const ticking = new Ticking(emulator);
  setInterval(async () => {
    for (const failure of await ticking.tick()) output.line('schedules', failure);
  }, tickMilliseconds);
}

export class Ticking {
  /** @param {string} emulator address of the functions emulator */
  constructor(emulator) {
    this.emulator = emulator;
    /** @type {Set<string>} */
    this.running = new Set();
  }

  /**
   * Runs every schedule to its end, except schedules that are still running from the previous call.
   * @returns {Promise<string[]>} errors
   */
  async tick() {
    try {
      const ids = await scheduledFunctions(this.emulator); // read each time, because functions can be added
      const failures = await Promise.all(ids.map((id) => this.start(id)));
      return failures.flatMap((failure) => failure ?? []);
    } catch (error) {
      return [`calling the schedules failed: ${error instanceof Error ? error.message : error}`];
    }
  }

  /** @param {string} id @returns {Promise<string | undefined>} an error */
  async start(id) {
    if (this.running.has(id)) return `${id} is still running: skipped`;
    this.running.add(id);
    try {
      return await callTrigger(this.emulator, id, { milliseconds: callMilliseconds });
    } catch (error) {
      return `${id} did not respond: ${error instanceof Error ? error.message : error}`;
    } finally {
      this.running.delete(id);
    }
  }
}

/** @param {string} emulator @returns {Promise<string[]>} such as `us-central1-sweep` */
async function scheduledFunctions(emulator) {
  const triggers = await triggersIn(emulator);
  return triggers.filter((trigger) => trigger.schedule !== undefined).map((trigger) => trigger.id);
}
