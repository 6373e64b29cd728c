// @ts-check
/**
 * npm run walk -- coordination_claim_task
 *
 * lists, in order, the files and functions of functions/src that one call of the tool enters. `--json` lists them as
 * JSON, `--help` tells more.
 */
import { checkPrerequisites } from './setup/prerequisites.mjs';

checkPrerequisites();
const { runWalk } = await import('./walk/run.mjs');
await runWalk(process.argv.slice(2));
