// @ts-check
/**
 * npm run migrate -- --project <id> | --emulator
 *
 * Carries over what version 0.1.0 has stored. It may be run again: what is carried over is left as it is.
 */
import { runOperatorProgram } from './setup/operatorProgram.mjs';

await runOperatorProgram('migrate/main.ts');
