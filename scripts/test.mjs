// @ts-check
/** `npm test -- --help` prints its arguments. */
import { checkPrerequisites } from './setup/prerequisites.mjs';

checkPrerequisites();
const { runTests } = await import('./tests/run.mjs');
await runTests(process.argv.slice(2));
