import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
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
  mkdirSync(folder, { recursive: true });
  git(folder, 'init', '--quiet', '--initial-branch=main');
  writeFileSync(`${folder}/README.md`, '# Example\n');
  git(folder, 'add', '.');
  git(folder, 'commit', '--quiet', '-m', 'Begin');
  writeFileSync(`${folder}/notes.txt`, 'mine\n');
  return folder;
}
