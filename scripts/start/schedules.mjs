// @ts-check
import { callTrigger, triggersIn } from '../emulators/triggers.mjs';

/** Every schedule ticks once a minute, whatever it says: they are all written to be run too often or too late. */
const tickMilliseconds = 60_000;

/** Longer than any schedule may take in a deployment. */
const callMilliseconds = 600_000;

/**
 * Calls the scheduled functions, which the emulator loads but never starts.
 * @param {string} emulator the functions'
 * @param {import('../emulators/output.mjs').Output} output
 */
export function tickSchedules(emulator, output) {
  const ticking = new Ticking(emulator);
  setInterval(async () => {
    for (const failure of await ticking.tick()) output.line('schedules', failure);
  }, tickMilliseconds);
}

/** Ticks in a row, of which none starts a schedule that still runs. */
export class Ticking {
  /** @param {string} emulator the functions' */
  constructor(emulator) {
    this.emulator = emulator;
    /** @type {Set<string>} */
    this.running = new Set();
  }

  /**
   * Runs every schedule once, to its end, but for those that have not ended since the tick before.
   * @returns {Promise<string[]>} what went wrong
   */
  async tick() {
    try {
      const ids = await scheduledFunctions(this.emulator); // asked each time: a function may have been added since
      const failures = await Promise.all(ids.map((id) => this.start(id)));
      return failures.flatMap((failure) => failure ?? []);
    } catch (error) {
      return [`the tick failed: ${error instanceof Error ? error.message : error}`];
    }
  }

  /** @param {string} id @returns {Promise<string | undefined>} what went wrong */
  async start(id) {
    if (this.running.has(id)) return `${id} still runs: it was not started again`;
    this.running.add(id);
    try {
      return await callTrigger(this.emulator, id, { milliseconds: callMilliseconds });
    } catch (error) {
      return `${id} did not answer: ${error instanceof Error ? error.message : error}`;
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
