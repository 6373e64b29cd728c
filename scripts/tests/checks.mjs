// @ts-check
import { root } from '../project.mjs';
import { biome } from '../setup/biome.mjs';
import { checkPage, compile } from '../setup/build.mjs';
import { succeeds } from '../setup/command.mjs';
import { checkConsole, checkWorker } from '../setup/console.mjs';
import { knip } from '../setup/knip.mjs';
import { writing } from '../setup/writing.mjs';
import { failure } from './mocha.mjs';

/**
 * Returns the commands that check types, style, import rules, unused exports and prose.
 * @param {string} node
 * @returns {Record<string, string[]>}
 */
export function checks(node) {
  const colors = process.stderr.isTTY ? 'force' : 'off'; // the commands write to a pipe and detect no terminal
  return {
    types: compile(node, ['--noEmit', '-p', root]),
    'types of the page': checkPage(node),
    'types of the console': checkConsole(node),
    'types of the service worker': checkWorker(node),
    'types of the examples': compile(node, ['--noEmit', '-p', `${root}/examples`]),
    style: biome(node, ['ci', `--colors=${colors}`]),
    'unused exports': knip(node),
    ...writing(node),
  };
}

/**
 * @param {string} name
 * @param {string[]} command
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<import('./mocha.mjs').Totals>}
 */
export async function runCheck(name, command, env) {
  const passed = await succeeds(command, { env, output: 'errors' });
  process.stdout.write(`${name}: ${passed ? 'ok' : 'FAILED'}\n`);
  return passed ? { passed: 0, failed: 0, failures: [], seconds: {} } : failure(`${name}: see above`);
}
