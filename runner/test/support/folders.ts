import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { deflateSync, inflateSync } from 'node:zlib';

export const newFolder = (): string => realpathSync(mkdtempSync(`${tmpdir()}/muster-runner-`));

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}

/** Git settings that set an identity and disable garbage collection, which would start a process per commit. */
const SETTINGS = ['user.name=Ada', 'user.email=ada@example.com', 'maintenance.auto=false'].flatMap((setting) => [
  '-c',
  setting,
]);

export function git(folder: string, ...args: readonly string[]): string {
  return execFileSync('git', ['-C', folder, ...SETTINGS, ...args], { encoding: 'utf8', stdio: 'pipe' }).trim();
}

/** Creates a repository with one commit on `main`. The checkout also has an uncommitted file. */
export function newRepository(folder: string): string {
  template ??= makeTemplate();
  return copyFolder(template, folder);
}

let template: string | undefined;

/** Creates the template repository once per process, because a copy is faster than git commands. */
function makeTemplate(): string {
  const folder = newFolder();
  git(folder, 'init', '--quiet', '--template=', '--initial-branch=main');
  writeFileSync(`${folder}/README.md`, '# Example\n');
  git(folder, 'add', '.');
  git(folder, 'commit', '--quiet', '-m', 'Begin');
  writeFileSync(`${folder}/notes.txt`, 'mine\n');
  return folder;
}

/** @returns the path of the copy */
export function copyFolder(from: string, to: string): string {
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  return to;
}

/**
 * Adds an empty commit to a repository without a git command. The index and the files stay unchanged.
 * @param parent id of the parent commit, which must not be in a pack file
 * @returns the id of the commit, which depends only on the parent and the message
 */
export function addCommit(gitDir: string, ref: string, parent: string, message: string): string {
  const [, tree = ''] = /\0tree (\w+)/.exec(inflateSync(readFileSync(objectFile(gitDir, parent))).toString()) ?? [];
  const by = 'Ada <ada@example.com> 1790000000 +0000';
  const text = `tree ${tree}\nparent ${parent}\nauthor ${by}\ncommitter ${by}\n\n${message}\n`;
  const object = `commit ${Buffer.byteLength(text)}\0${text}`;
  const sha = createHash('sha1').update(object).digest('hex');
  const file = objectFile(gitDir, sha);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, deflateSync(object));
  writeRef(gitDir, ref, sha);
  return sha;
}

/** @param ref full name of the ref, such as `refs/heads/main` */
export function writeRef(gitDir: string, ref: string, sha: string): void {
  mkdirSync(dirname(`${gitDir}/${ref}`), { recursive: true });
  writeFileSync(`${gitDir}/${ref}`, `${sha}\n`);
}

function objectFile(gitDir: string, sha: string): string {
  return `${gitDir}/objects/${sha.slice(0, 2)}/${sha.slice(2)}`;
}
