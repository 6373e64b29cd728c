// @ts-check
/** Loaded into the emulators before firebase-tools, with `node --import`. */
import { emulatorsPool, endIdleWorkers, IDLE_MILLISECONDS } from './idleWorkers.mjs';

endIdleWorkers(emulatorsPool(), IDLE_MILLISECONDS);
