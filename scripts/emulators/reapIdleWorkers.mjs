// @ts-check
/** Loaded into the emulators before firebase-tools, with `node --import`. */
import { emulatorsPool, IDLE_MS, reapIdleWorkers } from './idleWorkers.mjs';

reapIdleWorkers(emulatorsPool(), IDLE_MS);
