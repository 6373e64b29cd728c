// @ts-check
/**
 * npm run rebuild -- queue | counters | presence | access: rebuilds derived data.
 *
 * Needs the operator's own Google credentials and `--project <id>`, or `--emulator` for a running `npm start`.
 */
import { rebuildUsage } from './operator/usages.mjs';
import { runOperatorProgram } from './setup/operatorProgram.mjs';

await runOperatorProgram('rebuild/main.ts', rebuildUsage);
