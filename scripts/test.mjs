// @ts-check
/** `npm test -- --help` says what can be asked for. */
import { checkPrerequisites } from './setup/prerequisites.mjs';

checkPrerequisites();
const { runTests } = await import('./tests/run.mjs');
await runTests(process.argv.slice(2));
