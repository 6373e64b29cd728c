// @ts-check
/**
 * npm run rebuild -- queue | counters | presence | access: makes again what follows from something else.
 *
 * With the operator's own Google credentials and `--project <id>`, or `--emulator` for a running `npm start`.
 */
import { runOperatorProgram } from './setup/operatorProgram.mjs';

await runOperatorProgram('rebuild/main.ts');
