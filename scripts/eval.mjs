// @ts-check
/** `npm run eval -- proof`: starts emulators of the databases and Auth, and runs `test/eval/main.ts` with them. */
import { checkPrerequisites } from './setup/prerequisites.mjs';
import { parsedOrUsage, wrongUsage } from './setup/usage.mjs';

const usage = `Usage: npm run eval -- proof

Measures whether "done" means proven, with scripted agents that hand in wrong work, and prints what was reached.`;
const { positionals } = parsedOrUsage(usage, { allowPositionals: true });
if (positionals.join(' ') !== 'proof') wrongUsage(usage, 'Name what to evaluate: proof.');
checkPrerequisites();
const { runWithDatabases } = await import('./bench/run.mjs');
await runWithDatabases('eval', 'test/eval/main.ts', []);
