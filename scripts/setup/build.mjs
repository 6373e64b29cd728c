// @ts-check
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { devDirectory, root } from '../project.mjs';
import { bundle } from './bundle.mjs';
import { succeeds } from './command.mjs';
import { exclusively } from './lock.mjs';

const functionsFolder = `${root}/functions`;

/**
 * Compiles and bundles the functions into `functions/lib`. Only files that change are written there, and all at
 * once: a running `npm start` reloads its functions when one changes, and may be reading them at any time.
 * @param {{ node: string, env: NodeJS.ProcessEnv }} run
 */
export async function buildFunctions({ node, env }) {
  await exclusively(`${devDirectory}/build.lock`, async () => {
    const fresh = `${functionsFolder}/.lib`; // in the functions' folder, where their packages are found
    rmSync(fresh, { recursive: true, force: true });
    const compiled = await succeeds(compile(node, ['-p', functionsFolder, '--outDir', `${fresh}/compiled`]), {
      env,
    });
    if (compiled) {
      await bundle(`${fresh}/compiled/index.js`, `${fresh}/bundled`);
      replaceChanged(`${fresh}/bundled`, `${functionsFolder}/lib`);
    }
    rmSync(fresh, { recursive: true, force: true });
    if (!compiled) throw new Error('the functions do not compile');
  });
}

/** @param {string} node @param {string[]} args */
export function compile(node, args) {
  return [node, `${root}/node_modules/typescript/bin/tsc`, ...args];
}

/** @param {string} fresh @param {string} target */
function replaceChanged(fresh, target) {
  const wanted = new Set(filesIn(fresh));
  for (const file of wanted) {
    if (existsSync(`${target}/${file}`) && same(`${fresh}/${file}`, `${target}/${file}`)) continue;
    mkdirSync(dirname(`${target}/${file}`), { recursive: true });
    // Not straight to its name: a function could start between the two halves of a write.
    writeFileSync(`${target}/${file}.new`, readFileSync(`${fresh}/${file}`));
    renameSync(`${target}/${file}.new`, `${target}/${file}`);
  }
  for (const file of filesIn(target)) if (!wanted.has(file)) rmSync(`${target}/${file}`);
}

/** @param {string} one @param {string} other */
function same(one, other) {
  return readFileSync(one).equals(readFileSync(other));
}

/** @param {string} folder @returns {string[]} */
function filesIn(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    statSync(`${folder}/${path}`).isFile(),
  );
}
