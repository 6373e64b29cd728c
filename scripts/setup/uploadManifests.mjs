// @ts-check
/**
 * Creates the package.json and lockfile that are uploaded with the bundle. They list the functions framework and its
 * packages, at the versions in the root's lockfile. Otherwise, the platform would install the newest framework. The
 * bundle contains the SDKs. They are listed as development packages, because the emulator searches for their names.
 */
import { readFileSync } from 'node:fs';
import { root } from '../project.mjs';

const framework = '@google-cloud/functions-framework';
const sdks = ['firebase-admin', 'firebase-functions'];

/**
 * @typedef {object} Locked an entry of a lockfile
 * @property {string} version
 * @property {Record<string, string>} [dependencies]
 * @property {Record<string, string>} [optionalDependencies]
 * @property {Record<string, string>} [peerDependencies]
 * @property {Record<string, { optional?: boolean }>} [peerDependenciesMeta]
 * @property {boolean} [dev] this and the next fields are computed again, because they depend on the dependents
 * @property {boolean} [optional]
 * @property {boolean} [devOptional]
 * @property {boolean} [peer]
 *
 * @typedef {Record<string, Locked>} Packages by their paths
 */

/** @returns {Record<'package.json' | 'package-lock.json', string>} the texts of both files */
export function uploadManifests() {
  /** @type {{ packages: Packages }} */
  const { packages } = JSON.parse(readFileSync(`${root}/package-lock.json`, 'utf8'));
  const functions = JSON.parse(readFileSync(`${root}/functions/package.json`, 'utf8'));
  const { version, license, engines } = functions;
  const name = 'muster-functions';
  const dependencies = { [framework]: lockedAt(packages, `node_modules/${framework}`).version };
  const devDependencies = Object.fromEntries(sdks.map((sdk) => [sdk, functions.dependencies[sdk]]));
  const manifest = { name, version, license, dependencies, devDependencies, engines };
  const lock = {
    name,
    version,
    lockfileVersion: 3,
    requires: true,
    packages: { '': manifest, ...lockedFor(packages) },
  };
  return {
    'package.json': textOf({ ...manifest, private: true, type: 'module', main: 'lib/index.js' }),
    'package-lock.json': textOf(lock),
  };
}

/** @param {Packages} packages @returns {Packages} */
function lockedFor(packages) {
  const needed = closureOf(packages, [framework], false);
  const usable = closureOf(packages, [framework], true);
  const neededByAll = closureOf(packages, [framework, ...sdks], false);
  const all = closureOf(packages, [framework, ...sdks], true);
  return Object.fromEntries(
    [...all].sort().map((path) => {
      const { dev: _d, optional: _o, devOptional: _b, peer: _p, ...entry } = lockedAt(packages, path);
      const isDev = !usable.has(path);
      const isOptional = !needed.has(path) && !(isDev && neededByAll.has(path));
      return [path, { ...entry, ...(isDev && { dev: true }), ...(isOptional && { optional: true }) }];
    }),
  );
}

/**
 * Returns the paths of the packages and of all their direct and indirect dependencies.
 * @param {Packages} packages @param {string[]} names @param {boolean} withOptional
 */
function closureOf(packages, names, withOptional) {
  /** @type {Set<string>} */
  const found = new Set();
  /** @param {string} name @param {string} from @param {boolean} isOptional */
  const add = (name, from, isOptional) => {
    const path = pathOf(packages, name, from);
    if (path === undefined && !isOptional) throw new Error(`package-lock.json has no ${name} for ${from}`);
    if (path === undefined || found.has(path)) return;
    found.add(path);
    const { optionalDependencies = {}, ...entry } = lockedAt(packages, path);
    for (const one of neededBy(entry)) add(one, path, false);
    if (withOptional) for (const one of Object.keys(optionalDependencies)) add(one, path, true);
  };
  for (const name of names) add(name, '', false);
  return found;
}

/** @param {Locked} entry @returns {string[]} names */
function neededBy({ dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} }) {
  const peers = Object.keys(peerDependencies).filter((one) => !peerDependenciesMeta[one]?.optional);
  return [...Object.keys(dependencies), ...peers];
}

/** Finds a package as Node does. @param {Packages} packages @param {string} name @param {string} from a path */
function pathOf(packages, name, from) {
  for (let folder = from; ; folder = folder.replace(/(^|\/)node_modules\/(@[^/]+\/)?[^/]+$/, '')) {
    const path = `${folder}${folder && '/'}node_modules/${name}`;
    if (packages[path] !== undefined) return path;
    if (folder === '') return undefined;
  }
}

/** @param {Packages} packages @param {string} path */
function lockedAt(packages, path) {
  const entry = packages[path];
  if (entry === undefined) throw new Error(`package-lock.json has no ${path}`);
  return entry;
}

/** @param {unknown} value */
function textOf(value) {
  return `${JSON.stringify(value, null, 2)}\n`;
}
