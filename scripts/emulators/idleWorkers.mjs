// @ts-check
/**
 * Ends function processes that have been idle for a while.
 *
 * The functions emulator starts a process for each called function and each concurrent call, and never ends one: a
 * few minutes after a start, 16 processes use 2 GB. Cloud Run also ends idle instances, so no code may depend on
 * them.
 */
import { createRequire } from 'node:module';

/** Longer than the minute between two runs of a schedule, so that schedules reuse their processes. */
export const IDLE_MS = 90_000;
const IDLE = 'IDLE';
const FINISHING = 'FINISHING';

/**
 * @typedef {object} Worker as in firebase-tools, lib/emulator/functionsRuntimeWorker.js
 * @property {string} state
 * @property {import('node:events').EventEmitter} stateEvents emits each new state
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

/** @returns {PoolClass} class of the emulator's process pools */
export function emulatorsPool() {
  const loaded = createRequire(import.meta.url)('firebase-tools/lib/emulator/functionsRuntimeWorker.js');
  return loaded.RuntimeWorkerPool;
}

/**
 * Ends a process after it has been idle for this time. No call is lost, because a process that ends gets no calls.
 * @param {PoolClass} Pool
 * @param {number} idleMilliseconds
 */
export function reapIdleWorkers(Pool, idleMilliseconds) {
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
