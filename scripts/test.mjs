// @ts-check
/**
 * npm test                              everything
 * npm test -- unit rules                only these suites (see scripts/tests/suites.mjs)
 * npm test -- test/unit/a.test.ts       only this file
 * npm test -- integration --grep claim  options go to mocha
 */
import { checkPrerequisites } from './setup/prerequisites.mjs';

checkPrerequisites();
const { runTests } = await import('./tests/run.mjs');
await runTests(process.argv.slice(2));
