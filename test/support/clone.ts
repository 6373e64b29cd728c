/** Clones this repository for a test, with links to its installed packages. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../../scripts/project.mjs';

/** Folders of installed packages, which Git does not track. */
const INSTALLED = ['node_modules', 'functions/node_modules'];

/** Creates a clone that includes all uncommitted changes. @param more folders of packages that only tests install */
export function cloneInto(folder: string, more: readonly string[] = []): void {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  for (const file of listed.split('\0').filter((one) => one !== '' && existsSync(join(root, one)))) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(root, file), join(folder, file), { verbatimSymlinks: true });
  }
  for (const name of [...INSTALLED, ...more].filter((one) => existsSync(join(root, one))))
    symlinkSync(join(root, name), join(folder, name));
}
