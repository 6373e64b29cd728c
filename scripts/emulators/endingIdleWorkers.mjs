// @ts-check
/** Is loaded into the emulators before firebase-tools, by `node --import`. */
import { emulatorsPool, endIdleWorkers, IDLE_MILLISECONDS } from './idleWorkers.mjs';

endIdleWorkers(emulatorsPool(), IDLE_MILLISECONDS);
