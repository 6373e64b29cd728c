// @ts-check
import { readFileSync, writeFileSync } from 'node:fs';

/** Manifests with the version, in addition to those of the root and its workspaces. */
const manifests = ['server.json', 'plugins/muster/.claude-plugin/plugin.json', 'plugins/muster/gemini-extension.json'];
const sources = ['functions/src/config.ts', 'runner/src/version.ts'];

/**
 * Writes the version to every file that contains the version.
 * @param {string} folder @param {string} version
 */
export function writeVersion(folder, version) {
  /** @type {{ workspaces: string[] }} */
  const { workspaces } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  /** @param {string} file @param {(text: string) => string} change */
  const rewrite = (file, change) =>
    writeFileSync(`${folder}/${file}`, change(readFileSync(`${folder}/${file}`, 'utf8')));
  for (const file of ['package.json', ...workspaces.map((one) => `${one}/package.json`), ...manifests])
    rewrite(file, (text) => text.replace(/("version": )"[^"]*"/, `$1"${version}"`));
  for (const file of sources) rewrite(file, (text) => text.replace(/(VERSION = )'[^']*'/, `$1'${version}'`));
  rewrite('package-lock.json', (text) => lockedAt(text, version, workspaces));
}

/** @param {string} text @param {string} version @param {string[]} workspaces */
function lockedAt(text, version, workspaces) {
  const lock = JSON.parse(text);
  lock.version = version;
  for (const one of ['', ...workspaces]) lock.packages[one].version = version;
  return `${JSON.stringify(lock, null, 2)}\n`;
}
