/** Data that the processes of a sequence share. */
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface Plan {
  /** Everything of the user's. */
  readonly home: string;
  readonly repo: string;
  readonly branch: string;
  readonly commands: readonly string[];
  /** Variables of the shell. */
  readonly shell: Readonly<Record<string, string>>;
  /** Where the agent writes what it has left. */
  readonly inventory: string;
  /** Where the agent writes why it could not. */
  readonly fault: string;
  /** Commits that were there before. */
  readonly known: readonly string[];
  /** Whether the agent reports success. */
  readonly succeeds: boolean;
}

export interface Inventory {
  readonly folder: string;
  /** Whether the folder still is the worktree that the runner made. */
  readonly isOurs: boolean;
  /** Names of git objects by path. */
  readonly files: Readonly<Record<string, readonly string[]>>;
  readonly commits: readonly string[];
  readonly gitDir: string;
  /** Files outside of the worktree. */
  readonly outside: Readonly<Record<string, string>>;
}

/**
 * Lists everything below the home: content, mode and target. Without the worktree and what the runner documents as its
 * own: records, objects, the task's branch and refs below `refs/muster/`.
 */
export function listing(
  { home, repo, branch }: Plan,
  worktree: string,
  gitDir: string,
): Record<string, string> {
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
      for (const entry of readdirSync(path)) walk(`${path}/${entry}`);
    } else if (stat.isSymbolicLink()) found[name] = `-> ${readlinkSync(path)}`;
    else if (stat.isFile())
      found[name] = `${stat.mode.toString(8)} ${createHash('sha1').update(readFileSync(path)).digest('hex')}`;
  };
  walk(home);
  return found;
}
