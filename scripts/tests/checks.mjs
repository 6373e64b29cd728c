// @ts-check
import { root } from '../project.mjs';
import { compile } from '../setup/build.mjs';
import { succeeds } from '../setup/command.mjs';

/**
 * What is not a test but must hold: types everywhere, style and the architecture's import rules.
 * @param {{ node: string, env: NodeJS.ProcessEnv }} run
 * @returns {Promise<import('./mocha.mjs').Totals>}
 */
export async function runChecks({ node, env }) {
  const colours = process.stderr.isTTY ? 'force' : 'off'; // its output passes through us, so it cannot tell
  const biome = [node, `${root}/node_modules/@biomejs/biome/bin/biome`, 'ci', `--colors=${colours}`];
  const results = await Promise.all([
    check('types', compile(node, ['--noEmit', '-p', root]), env),
    check('biome', biome, env),
  ]);
  const failures = results.filter((failure) => failure !== undefined);
  return { passed: 0, failed: failures.length, failures };
}

/**
 * @param {string} name
 * @param {string[]} command
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<string | undefined>} what failed
 */
async function check(name, command, env) {
  const passed = await succeeds(command, { env, output: 'errors' });
  process.stdout.write(`${name}: ${passed ? 'ok' : 'FAILED'}\n`);
  return passed ? undefined : `${name}: see above`;
}
