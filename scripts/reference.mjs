// @ts-check
/**
 * npm run reference              writes docs/reference, the README's table of toolsets and test/contract/snapshots
 * npm run reference -- --check   fails if they are stale
 */
import { spawn } from 'node:child_process';
import { root } from './project.mjs';
import { checkPrerequisites } from './setup/prerequisites.mjs';
import { showUsageIfAsked } from './setup/usage.mjs';

showUsageIfAsked(`npm run reference              writes docs/reference, the README's table of toolsets and test/contract/snapshots
npm run reference -- --check   fails if they are stale`);
checkPrerequisites();
const { installDependencies, installTestLibraries } = await import('./setup/install.mjs');
const { node22 } = await import('./setup/node22.mjs');
const run = { env: process.env, say: (/** @type {string} */ message) => console.error(message) };
await installDependencies(run);
await installTestLibraries(run); // for counting tokens
const program = ['--disable-warning=ExperimentalWarning', `${root}/scripts/reference/main.ts`];
const child = spawn(node22(), [...program, ...process.argv.slice(2)], { stdio: 'inherit' });
child.once('exit', (code) => process.exit(code ?? 1));
