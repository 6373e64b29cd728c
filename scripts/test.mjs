// @ts-check
/** `npm test -- --help` prints its arguments. */
import { checkPrerequisites } from './setup/prerequisites.mjs';
import { showUsageIfAsked } from './setup/usage.mjs';
import { help } from './tests/arguments.mjs';

showUsageIfAsked(help());
checkPrerequisites();
const { runTests } = await import('./tests/run.mjs');
await runTests(process.argv.slice(2));
