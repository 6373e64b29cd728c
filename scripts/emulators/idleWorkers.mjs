// @ts-check
/**
 * Ends processes of functions that have had nothing to do for a while.
 *
 * The functions emulator starts a process for each function that is called, and one more for each call beside another,
 * and keeps them all until it ends: 16 of them, 2 GB, a few minutes after a start with nobody at work. Cloud Run ends
 * instances that are idle, too, so nothing rests on their staying.
 */
import { createRequire } from 'node:module';

/** Longer than the minute after which schedules call theirs again. */
export const IDLE_MILLISECONDS = 90_000;

const IDLE = 'IDLE';
const FINISHING = 'FINISHING';

/**
 * @typedef {object} Worker as firebase-tools has it, in lib/emulator/functionsRuntimeWorker.js
 * @property {string} state
 * @property {import('node:events').EventEmitter} stateEvents emits each state that it gets into
 * @property {{ process: import('node:child_process').ChildProcess }} runtime
 * @property {() => Promise<void>} waitForSocketReady
 *
 * @typedef {object} Pool
 * @property {(...parameters: unknown[]) => Worker} addWorker
 * @property {(trigger: string) => boolean} readyForWork
 * @property {(trigger: string, ...call: unknown[]) => Promise<void>} submitRequest
 *
 * @typedef {new () => Pool} PoolClass
 */

/** @returns {PoolClass} the class of the pools that the emulator keeps its processes in */
export function emulatorsPool() {
  const loaded = createRequire(import.meta.url)('firebase-tools/lib/emulator/functionsRuntimeWorker.js');
  return loaded.RuntimeWorkerPool;
}

/**
 * A process that is told to finish is given no call any more, and the next call has another one started: none is lost.
 * @param {PoolClass} Pool
 * @param {number} idleMilliseconds
 */
export function endIdleWorkers(Pool, idleMilliseconds) {
  const { addWorker } = Pool.prototype;
  /** @this {Pool} @param {unknown[]} parameters @returns {Worker} */
  Pool.prototype.addWorker = function (...parameters) {
    const worker = addWorker.apply(this, parameters);
    /** @type {NodeJS.Timeout | undefined} */
    let timer;
    const end = () => {
      if (worker.state !== IDLE) return;
      worker.state = FINISHING;
      worker.runtime.process.kill();
    };
    worker.stateEvents.on(IDLE, () => {
      clearTimeout(timer);
      timer = setTimeout(end, idleMilliseconds).unref();
    });
    return worker;
  };
}
