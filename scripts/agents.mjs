// @ts-check
/**
 * npm run agents -- create --name <name> [--role leader] [--owner <uid>] [--workspace <name>]
 * npm run agents -- revoke <agentId>
 *
 * With the operator's own Google credentials and `--project <id>`, or `--emulator` for a running `npm start`.
 */
import { spawn } from 'node:child_process';
import { root } from './project.mjs';
import { checkPrerequisites } from './setup/prerequisites.mjs';

checkPrerequisites();
const { installDependencies } = await import('./setup/install.mjs');
const { node22 } = await import('./setup/node22.mjs');
await installDependencies({ env: process.env, say: (message) => console.error(message) });
const program = ['--disable-warning=ExperimentalWarning', `${root}/scripts/agents/main.ts`];
const child = spawn(node22(), [...program, ...process.argv.slice(2)], { stdio: 'inherit' });
child.once('exit', (code) => process.exit(code ?? 1));
