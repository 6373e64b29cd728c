// @ts-check
/** Runs operator programs, which need only Node and the locked packages, but no Java. */
import { spawn } from 'node:child_process';
import { root } from '../project.mjs';
import { checkPrerequisites } from './prerequisites.mjs';
import { nodeUsesProxy, reachThisMachineDirectly } from './proxy.mjs';
import { showUsageIfAsked } from './usage.mjs';

/**
 * Runs a program under Node 22 with this process's arguments, and exits with its code.
 * @param {string} program its path below `scripts`
 * @param {string} usage printed with --help, before anything is installed
 */
export async function runOperatorProgram(program, usage) {
  showUsageIfAsked(usage);
  checkPrerequisites({ java: false }); // Only the emulators need Java.
  const { installDependencies } = await import('./install.mjs');
  const { node22 } = await import('./node22.mjs');
  await installDependencies({ env: process.env, say: (message) => console.error(message) });
  const file = ['--disable-warning=ExperimentalWarning', '--disable-warning=UNDICI-EHPA', `${root}/scripts/${program}`];
  reachThisMachineDirectly();
  const env = { ...process.env, ...nodeUsesProxy(process.env) };
  const child = spawn(node22(), [...file, ...process.argv.slice(2)], { env, stdio: 'inherit' });
  child.once('exit', (code) => process.exit(code ?? 1));
}
