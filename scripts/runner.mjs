// @ts-check
/** npm run runner -- --repo <path> --url <mcp url> …: see docs/guides/runner.md */
import { spawn } from 'node:child_process';
import { USAGE } from '../runner/src/usage.mjs';
import { root } from './project.mjs';
import { checkPrerequisites } from './setup/prerequisites.mjs';
import { showUsageIfAsked } from './setup/usage.mjs';

showUsageIfAsked(USAGE);
checkPrerequisites({ java: false });
const { installDependencies } = await import('./setup/install.mjs');
const { node22 } = await import('./setup/node22.mjs');
await installDependencies({ env: process.env, say: (message) => console.error(message) });
const program = ['--disable-warning=ExperimentalWarning', `${root}/runner/src/main.ts`];
// With the channel, the runner detects that this process was killed.
const child = spawn(node22(), [...program, ...process.argv.slice(2)], {
  cwd: process.env['INIT_CWD'] ?? process.cwd(),
  stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
});
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']))
  process.on(signal, () => child.kill(signal));
child.once('exit', (code) => process.exit(code ?? 1));
