// @ts-check
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { root } from '../project.mjs';

/**
 * The functions' committed parameters with some of this run's own, in a folder of the run: what
 * `functions/.env.local` is for a person, without touching theirs.
 * @param {import('../processes/run.mjs').Run} run
 * @param {Record<string, string>} parameters
 * @param {{ personal: boolean }} options whether the person's own hold where this run has none
 * @returns {string} the folder, as firebase.json names one: relative to the project
 */
export function writeParameters(run, parameters, { personal }) {
  const folder = `${run.directory}/parameters`;
  mkdirSync(folder, { recursive: true });
  const theirs = `${root}/functions/.env.local`;
  const before = personal && existsSync(theirs) ? `${readFileSync(theirs, 'utf8')}\n` : '';
  const own = Object.entries(parameters).map(
    ([name, value]) => `${name}="${value.replaceAll('\n', '\\n')}"\n`,
  );
  writeFileSync(`${folder}/.env`, readFileSync(`${root}/functions/.env`));
  writeFileSync(`${folder}/.env.local`, before + own.join(''), { mode: 0o600 }); // what comes last holds
  return relative(root, folder);
}
