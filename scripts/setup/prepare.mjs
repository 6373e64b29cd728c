// @ts-check
import { buildFunctions } from './build.mjs';
import { buildConsole } from './console.mjs';
import { installDependencies } from './install.mjs';
import { node22 } from './node22.mjs';

/**
 * Prepares a clone for the emulators: dependencies, Node 22, bundled functions, the console.
 * @param {{ run: import('../processes/run.mjs').Run, say: (message: string) => void }} options
 * @returns {Promise<string>} path of the Node for all programs
 */
export async function prepare({ run, say }) {
  await installDependencies({ env: run.env, say });
  const node = node22();
  say('building the functions and the console');
  await buildFunctions();
  await buildConsole('emulators', { node, env: run.env });
  return node;
}
