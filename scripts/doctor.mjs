// @ts-check
/**
 * npm run doctor -- --project <id> [--json]
 *
 * Checks a project, and prints the command that fixes each problem. Changes nothing.
 */
import { doctorUsage } from './operator/usages.mjs';
import { runOperatorProgram } from './setup/operatorProgram.mjs';

await runOperatorProgram('doctor/main.ts', doctorUsage);
