// @ts-check
/** `npm run bench [-- --json]`: starts emulators of the databases and Auth, and runs `bench/main.ts` with them. */
import { checkPrerequisites } from './setup/prerequisites.mjs';

checkPrerequisites();
const { showUsageIfAsked } = await import('./setup/usage.mjs');
showUsageIfAsked('npm run bench [-- --json]   runs the benchmarks against dedicated emulators');
const { runBenchmarks } = await import('./bench/run.mjs');
await runBenchmarks(process.argv.slice(2));
