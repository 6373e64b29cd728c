import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** A folder of a test's own. */
export function newFolder(): string {
  return realpathSync(mkdtempSync(`${tmpdir()}/muster-runner-`));
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}

/** Git as the tests use it: in a folder, with an identity. */
export function git(folder: string, ...args: readonly string[]): string {
  const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  return execFileSync('git', ['-C', folder, ...identity, ...args], {
    encoding: 'utf8',
    stdio: 'pipe',
  }).trim();
}

/** A repository with one commit on `main`, whose checkout has a file that is not committed. */
export function newRepository(folder: string): string {
  template ??= makeTemplate();
  return copyFolder(template, folder);
}

let template: string | undefined;

/** Made once in a process, since a copy is cheaper than git is. */
function makeTemplate(): string {
  const folder = newFolder();
  git(folder, 'init', '--quiet', '--initial-branch=main');
  writeFileSync(`${folder}/README.md`, '# Example\n');
  git(folder, 'add', '.');
  git(folder, 'commit', '--quiet', '-m', 'Begin');
  writeFileSync(`${folder}/notes.txt`, 'mine\n');
  return folder;
}

/** @returns the folder of the copy */
export function copyFolder(from: string, to: string): string {
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  return to;
}
