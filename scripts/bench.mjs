// @ts-check
/** `npm run bench`: starts emulators of the databases and Auth, and runs `bench/main.ts` with them. */
import { checkPrerequisites } from './setup/prerequisites.mjs';
import { showUsageIfAsked } from './setup/usage.mjs';

showUsageIfAsked(`npm run bench                          runs all benchmarks except scaleLarge and todoScaleLarge
npm run bench -- --only claim,scale    only the named benchmarks
npm run bench -- --json                prints results as JSON, one object per line
npm run bench -- --write               runs everything twice, and writes the results to docs/benchmarks.md
npm run bench -- --only load --minutes 30   duration of the mixed load`);
checkPrerequisites();
const { runWithDatabases } = await import('./bench/run.mjs');
await runWithDatabases('bench', 'bench/main.ts', process.argv.slice(2));
