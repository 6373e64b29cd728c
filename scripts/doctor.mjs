// @ts-check
/**
 * npm run doctor -- --project <id> [--json]
 *
 * Looks at a project and names the command that mends each thing that is wrong with it. It changes nothing.
 */
import { runOperatorProgram } from './setup/operatorProgram.mjs';

await runOperatorProgram('doctor/main.ts');
