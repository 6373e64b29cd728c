/** Creates and removes linked worktrees for task branches, outside the user's checkout. */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { type Checkout, deviationOf, gitAt, registrationProblem } from './checkout.ts';
import { GitError } from './git.ts';
import { type ContentSettings, contentSettings } from './keep/contentSettings.ts';
import { type IgnoredBefore, outerRules } from './keep/ignored.ts';
import type { Repository } from './repository.ts';
import { requireFree, serially } from './start/branchUse.ts';
import type { StartingPoint } from './start/startingPoint.ts';

export interface Worktree extends Checkout {
  readonly branch: string;
  /** Commit of the branch when the worktree was created. */
  readonly startedAt: string;
}

/** Ignore rules and storage settings of git from before the agent ran. */
export interface Before extends IgnoredBefore {
  readonly settings: ContentSettings;
}

export interface WorktreeWishes extends Pick<StartingPoint, 'branch' | 'existed' | 'at'> {
  /** Path for the worktree, at which nothing exists yet. */
  readonly folder: string;
  readonly ownFolder: string;
}

/**
 * @throws BranchBusy if another worktree uses the branch
 * @throws GitError if the folder exists, or git fails
 */
export async function openWorktree(repository: Repository, wishes: WorktreeWishes): Promise<Worktree> {
  const { git, commonDir } = repository;
  const { branch, existed, at } = wishes;
  const folder = newFolder(wishes.folder);
  try {
    await serially(repository, async () => {
      const { isRegistered } = await requireFree(repository, branch, wishes);
      const force = isRegistered ? ['--force'] : [];
      const how = existed ? [folder, branch] : ['--no-track', '-b', branch, folder, at];
      await git('worktree', 'add', '--quiet', ...force, ...how);
    });
    // Another runner can have added a worktree at the same time. If both detect the other's worktree, both give up.
    await requireFree(repository, branch, { ...wishes, except: folder });
    const checkout = checkoutIn(commonDir, folder);
    return { ...checkout, branch, startedAt: await gitAt(checkout)('rev-parse', 'HEAD') };
  } catch (error) {
    removeRemains(commonDir, folder);
    throw error;
  }
}

/**
 * Opens a worktree of a commit, without a branch.
 * @param path for the worktree, at which nothing exists yet
 * @throws GitError if the folder exists, or git fails
 */
export async function openDetached(repository: Repository, path: string, commit: string): Promise<Checkout> {
  const { git, commonDir } = repository;
  const folder = newFolder(path);
  try {
    await serially(repository, () => git('worktree', 'add', '--quiet', '--detach', folder, commit));
    return checkoutIn(commonDir, folder);
  } catch (error) {
    removeRemains(commonDir, folder);
    throw error;
  }
}

function checkoutIn(commonDir: string, folder: string): Checkout {
  const gitDir = registrationOf(commonDir, folder);
  if (gitDir === undefined) throw new GitError(`Git did not register the worktree ${folder}.`);
  return { folder, gitDir, commonDir };
}

/** @returns the path, with links resolved, at which nothing exists */
function newFolder(path: string): string {
  const parent = dirname(path);
  mkdirSync(parent, { recursive: true });
  const folder = `${realpathSync(parent)}/${basename(path)}`;
  if (existsSync(folder)) throw new GitError(`The folder ${folder} already exists.`, { kind: 'busy' });
  return folder;
}

/** Records the state before the agent runs, for use after the run, and copies the index. */
export async function noteBefore(worktree: Worktree, baseline: string): Promise<Before> {
  const git = gitAt(worktree);
  copyFileSync(`${worktree.gitDir}/index`, baseline);
  return {
    startedAt: worktree.startedAt,
    outerRules: await outerRules(worktree, git),
    settings: await contentSettings(git),
  };
}

/**
 * Removes a worktree and its registration; the branch stays. The caller must have made everything in the worktree
 * reachable elsewhere.
 * @returns why the worktree was not removed; undefined if it was removed
 */
export async function removeWorktree(checkout: Checkout): Promise<string | undefined> {
  if (existsSync(checkout.folder)) {
    const deviation = await deviationOf(checkout);
    if (deviation !== undefined) return `The checkout ${deviation}.`;
  }
  return removeFolders(checkout);
}

/**
 * Removes the remains of a `git worktree add` or a removal that was interrupted. No agent has worked in the folder.
 * @returns why the remains were not removed; undefined if they were removed
 */
export function removeRemains(commonDir: string, folder: string): string | undefined {
  const gitDir = registrationOf(commonDir, folder);
  return removeFolders({ folder, gitDir: gitDir ?? '', commonDir });
}

/** Removes the folder before its registration, so that a later call can complete an interrupted removal. */
function removeFolders({ folder, gitDir, commonDir }: Checkout): string | undefined {
  try {
    remove(folder);
    if (gitDir !== '' && registrationProblem({ folder, gitDir, commonDir }) === undefined)
      rmSync(gitDir, { recursive: true, force: true, maxRetries: 5 });
    return undefined;
  } catch (error) {
    return `The worktree cannot be removed. ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Removes a folder, even if it contains read-only folders, such as Go's module cache. */
function remove(folder: string): void {
  const options = { recursive: true, force: true, maxRetries: 5 };
  try {
    rmSync(folder, options);
  } catch {
    makeWritable(folder);
    rmSync(folder, options);
  }
}

function makeWritable(folder: string): void {
  chmodSync(folder, 0o700);
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) makeWritable(`${folder}/${entry.name}`);
}

/** Detaches the HEAD of a worktree that is kept, so that another attempt can use the branch. */
export async function leaveWorktree(checkout: Checkout): Promise<void> {
  if (registrationProblem(checkout) !== undefined) return;
  const git = gitAt(checkout);
  const head = await git('rev-parse', '--verify', '--quiet', 'HEAD^{commit}').catch(() => undefined);
  if (head !== undefined) await git('update-ref', '--no-deref', 'HEAD', head);
}

/** @returns the git directory that the repository has registered for a folder */
export function registrationOf(commonDir: string, folder: string): string | undefined {
  const all = `${commonDir}/worktrees`;
  if (!existsSync(all)) return undefined;
  return readdirSync(all)
    .map((name) => `${all}/${name}`)
    .find((gitDir) => {
      const file = `${gitDir}/gitdir`;
      return existsSync(file) && resolve(gitDir, readFileSync(file, 'utf8').trim()) === `${folder}/.git`;
    });
}
