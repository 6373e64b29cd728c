// @ts-check
/**
 * npm run agents -- list | create | renew | set-role | revoke
 *
 * Needs the operator's own Google credentials and `--project <id>`, or `--emulator` for a running `npm start`.
 */
import { agentsUsage } from './operator/usages.mjs';
import { runOperatorProgram } from './setup/operatorProgram.mjs';

await runOperatorProgram('agents/main.ts', agentsUsage);
