// @ts-check
/**
 * npm run people -- list | show | create | set-role | add | remove | revoke | erase
 *
 * Needs the operator's own Google credentials and `--project <id>`, or `--emulator` for a running `npm start`.
 */
import { peopleUsage } from './operator/usages.mjs';
import { runOperatorProgram } from './setup/operatorProgram.mjs';

await runOperatorProgram('people/main.ts', peopleUsage);
