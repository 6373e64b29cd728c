// @ts-check
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { devDirectory, root } from '../project.mjs';
import { bundle, bundlePage, bundleViews } from './bundle.mjs';
import { succeeds } from './command.mjs';
import { exclusively } from './lock.mjs';
import { uploadManifests } from './uploadManifests.mjs';

const functionsFolder = `${root}/functions`;

/** Folder of code for browsers, which is checked with other types than code for Node. */
const pageFolder = `${functionsFolder}/src/signin/page`;

/** Folder of the views in chat: one script each, and the code and style that they share. */
const viewsFolder = `${root}/console/views`;

/** The folder that is uploaded. It contains only the bundle and the manifests of `uploadManifests`. */
const uploadFolder = `${functionsFolder}/dist`;

/**
 * Bundles the functions and their pages into `functions/dist/lib`, without checking types. A running `npm start`
 * reloads functions when a file changes, so only changed files are written, and each in one step.
 */
export async function buildFunctions() {
  await exclusively(`${devDirectory}/build.lock`, async () => {
    const fresh = `${functionsFolder}/.dist`; // in the functions' folder, so that imports find the packages
    const library = `${fresh}/lib`;
    rmSync(fresh, { recursive: true, force: true });
    try {
      await bundle(`${functionsFolder}/src/index.ts`, library);
      await bundlePage({ script: `${pageFolder}/main.ts`, style: `${pageFolder}/page.css` }, `${library}/signin`);
      await buildViews(`${library}/views`);
      for (const [file, text] of Object.entries(uploadManifests())) writeFileSync(`${fresh}/${file}`, text);
      replaceChanged(fresh, uploadFolder);
    } finally {
      rmSync(fresh, { recursive: true, force: true });
    }
  });
}

/**
 * Builds the views in the form that hosts receive.
 * @param {string} target a folder
 */
export async function buildViews(target) {
  const scripts = readdirSync(viewsFolder).filter((file) => file.endsWith('.tsx'));
  await bundleViews(
    { scripts: scripts.map((file) => `${viewsFolder}/${file}`), style: `${viewsFolder}/shared/view.css` },
    target,
  );
}

/**
 * @param {{ node: string, env: NodeJS.ProcessEnv }} run
 * @returns {Promise<boolean>} whether the functions have no type error
 */
export async function checkFunctions({ node, env }) {
  const commands = [compile(node, ['--noEmit', '-p', functionsFolder]), checkPage(node), checkModels(node)];
  const checked = await Promise.all(commands.map((command) => succeeds(command, { env })));
  return checked.every((holds) => holds);
}

/** @param {string} node @returns {string[]} the command that checks the file of the hosted agents */
export function checkModels(node) {
  return [node, `${root}/scripts/models/main.ts`];
}

/** @param {string} node @returns {string[]} the command that checks the types of the page */
export function checkPage(node) {
  return compile(node, ['--noEmit', '-p', pageFolder]);
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
    // Each file is first written under another name, because a function could start while a file is being written.
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
