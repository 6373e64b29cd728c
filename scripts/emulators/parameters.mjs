// @ts-check
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { root } from '../project.mjs';

/**
 * Writes the committed parameters, and this run's own parameters, to a folder of the run. A developer's
 * `functions/.env.local` stays unchanged.
 * @param {import('../processes/run.mjs').Run} run
 * @param {Record<string, string>} parameters
 * @param {{ useLocalParameters: boolean }} options whether the developer's parameters apply unless the run sets them
 * @returns {string} the folder relative to the project, for firebase.json
 */
export function writeParameters(run, parameters, { useLocalParameters }) {
  const folder = `${run.directory}/parameters`;
  mkdirSync(folder, { recursive: true });
  const theirs = `${root}/functions/.env.local`;
  const before = useLocalParameters && existsSync(theirs) ? `${readFileSync(theirs, 'utf8')}\n` : '';
  const own = Object.entries(parameters).map(([name, value]) => `${name}="${value.replaceAll('\n', '\\n')}"\n`);
  writeFileSync(`${folder}/.env`, readFileSync(`${root}/functions/.env`));
  writeFileSync(`${folder}/.env.local`, before + own.join(''), { mode: 0o600 }); // later lines override earlier ones
  return relative(root, folder);
}
