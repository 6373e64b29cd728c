// @ts-check
/**
 * Stores the bundle of the last release, as JSON compressed with Brotli. The upgrade test runs it alongside this
 * version. Source: docs/decisions/0008-build-and-deploy.md.
 */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { root } from '../project.mjs';

/** The bundle of a new release replaces the stored file. */
const releaseFile = `${root}/test/integration/upgrade/lastRelease.json.br`;

/**
 * @typedef {object} Release
 * @property {string} version
 * @property {string} commit commit that was built, with the packages of its lockfile
 * @property {Record<string, string>} files texts of the bundle's files by path
 * @property {{ firestore: string, database: string }} rules deployed security rules
 */

/** @returns {Release} */
export function readRelease() {
  return JSON.parse(brotliDecompressSync(readFileSync(releaseFile)).toString());
}

/** @param {Release} release @returns {string} the file */
export function writeRelease(release) {
  const text = Buffer.from(JSON.stringify(release));
  const params = {
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
  };
  writeFileSync(releaseFile, brotliCompressSync(text, { params }));
  return releaseFile;
}

/** @param {string} folder @returns {Record<string, string>} */
export function textsIn(folder) {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  const files = paths.filter((path) => statSync(`${folder}/${path}`).isFile());
  return Object.fromEntries(files.map((path) => [path, readFileSync(`${folder}/${path}`, 'utf8')]));
}

/**
 * Unpacks a bundle in the form that the platform expects: a package whose main module is `lib/index.js`.
 * @param {Release} release @param {string} folder
 */
export function unpackRelease({ files }, folder) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(`${folder}/lib/${path}`), { recursive: true });
    writeFileSync(`${folder}/lib/${path}`, text);
  }
  writeFileSync(`${folder}/package.json`, '{"type":"module","main":"lib/index.js"}');
}
