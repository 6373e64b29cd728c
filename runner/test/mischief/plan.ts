/** Data that the processes of a sequence share. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';

export interface Plan {
  readonly home: string;
  readonly repo: string;
  readonly branch: string;
  readonly commands: readonly string[];
  /** Variables for the shell commands of the agent. */
  readonly shell: Readonly<Record<string, string>>;
  /** Path to which the agent writes its inventory. */
  readonly inventory: string;
  /** Path to which the agent writes its error, if it fails. */
  readonly fault: string;
  /** Ids of the commits that existed before the sequence. */
  readonly known: readonly string[];
  /** Whether the agent reports success at its end. */
  readonly succeeds: boolean;
}

export interface Inventory {
  readonly folder: string;
  readonly isOurs: boolean;
  /** Names of the git objects with a file's content, by the path of the file. */
  readonly files: Readonly<Record<string, readonly string[]>>;
  readonly commits: readonly string[];
  readonly gitDir: string;
  /** State of the files outside the worktree after the agent's commands. */
  readonly outside: Readonly<Record<string, string>>;
}

/**
 * Lists all files below the home folder, with content, mode and link target. Omits what a runner may change: the
 * worktree, records, objects, the task's branch and refs below `refs/muster/`.
 */
export function listing({ home, repo, branch }: Plan, worktree: string, gitDir: string): Record<string, string> {
  const own = [
    worktree,
    gitDir,
    ...['muster', 'objects', `refs/heads/${branch}`, `logs/refs/heads/${branch}`, 'refs/muster'].map(
      (path) => `${repo}/.git/${path}`,
    ),
  ];
  const found: Record<string, string> = {};
  const walk = (path: string): void => {
    if (own.includes(path)) return;
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return;
    const name = path.slice(home.length);
    if (stat.isDirectory()) {
      const restore = allow(path, stat.mode, 0o500);
      for (const entry of readdirSync(path)) walk(`${path}/${entry}`);
      restore();
    } else if (stat.isSymbolicLink()) found[name] = `-> ${readlinkSync(path)}`;
    else if (stat.isFile()) {
      const restore = allow(path, stat.mode, 0o400);
      found[name] = `${stat.mode.toString(8)} ${createHash('sha1').update(readFileSync(path)).digest('hex')}`;
      restore();
    }
  };
  walk(home);
  return found;
}

/**
 * Makes everything below a folder readable, because a later runner can have more rights than the agent.
 * @returns a function that restores the modes
 */
export function makeReadable(path: Buffer): () => void {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isFile()) return allow(path, stat.mode, 0o400);
  if (stat?.isDirectory() !== true) return () => undefined;
  const restoreFolder = allow(path, stat.mode, 0o500);
  const names = readdirSync(path, 'latin1');
  const restores = names.map((name) => makeReadable(Buffer.from(`${path.toString('latin1')}/${name}`, 'latin1')));
  return () => {
    for (const restore of restores) restore();
    restoreFolder();
  };
}

/** @returns a function that restores the mode */
function allow(path: Buffer | string, mode: number, rights: number): () => void {
  if ((mode & rights) === rights) return () => undefined;
  chmodSync(path, mode | rights);
  return () => chmodSync(path, mode);
}

/**
 * Repairs the format and HEAD of a repository if an agent has changed them. Otherwise, no runner could start there,
 * and the user would have to repair them.
 * @returns a function that undoes the repair, or undefined if nothing was repaired
 */
export function repair({ repo, known }: Plan): (() => void) | undefined {
  const config = `${repo}/.git/config`;
  const head = `${repo}/.git/HEAD`;
  const former = { config: readFileSync(config), head: readFileSync(head) };
  const run = (...args: readonly string[]) => spawnSync('git', args, { cwd: '/', stdio: 'ignore' }).status === 0;
  const isUnknownFormat = /formatversion = 99/i.test(String(former.config));
  if (isUnknownFormat) run('config', '--file', config, 'core.repositoryformatversion', '0');
  const isUnborn = !run(`--git-dir=${repo}/.git`, 'rev-parse', '--verify', '--quiet', 'HEAD^{commit}');
  if (isUnborn) writeFileSync(head, `${known[0]}\n`);
  if (!isUnknownFormat && !isUnborn) return undefined;
  return () => {
    writeFileSync(config, former.config);
    writeFileSync(head, former.head);
  };
}
