// @ts-check
/** Programs for operators run where nothing else of Muster does: they need Node and what is locked, and no Java. */
import { spawn } from 'node:child_process';
import { root } from '../project.mjs';
import { checkPrerequisites } from './prerequisites.mjs';
import { nodeUsesProxy, reachThisMachineDirectly } from './proxy.mjs';

/**
 * Runs it under Node 22 with the arguments of this process, and ends as it ends.
 * @param {string} program its path below `scripts`
 */
export async function runOperatorProgram(program) {
  checkPrerequisites({ java: false });
  const { installDependencies } = await import('./install.mjs');
  const { node22 } = await import('./node22.mjs');
  await installDependencies({ env: process.env, say: (message) => console.error(message) });
  const file = [
    '--disable-warning=ExperimentalWarning',
    '--disable-warning=UNDICI-EHPA',
    `${root}/scripts/${program}`,
  ];
  reachThisMachineDirectly(); // where the emulators are
  const env = { ...process.env, ...nodeUsesProxy(process.env) };
  const child = spawn(node22(), [...file, ...process.argv.slice(2)], { env, stdio: 'inherit' });
  child.once('exit', (code) => process.exit(code ?? 1));
}
