/**
 * Makes everything that an agent left in its worktree reachable. Files go to the task's branch, and commits without a
 * branch to `refs/muster/kept/`. Source: docs/guides/runner.md, "Storage locations".
 */
import { copyFileSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { deviationOf, gitAt, registrationProblem } from '../checkout.ts';
import { type Git, gitIn, succeeds } from '../git.ts';
import type { Before, Worktree } from '../worktree.ts';
import { type Committed, commitToBranch } from './branchCommit.ts';
import { contentSettings, restoring } from './contentSettings.ts';
import { ignoredPaths, newlyIgnored } from './ignored.ts';
import { type Inner, keepInner } from './inner.ts';
import { keepUnreachable, listed, rememberedObjects } from './kept.ts';
import { findRepositories } from './nested.ts';
import { takeSnapshot } from './snapshot.ts';

export interface SettleWishes {
  readonly worktree: Worktree;
  readonly before: Before;
  /** Folder for a copy of the initial index and for the runner's own index. */
  readonly baseline: string | undefined;
  readonly index: string;
  readonly message: string;
}

export interface Settled {
  readonly commit: string | undefined;
  readonly notes: readonly string[];
  /** Sentence that explains why some work is only in the worktree, which makes the attempt fail. */
  readonly problem: string | undefined;
  /** Reason to keep the worktree although the attempt can complete. */
  readonly stays: string | undefined;
}

/** Makes everything in a worktree reachable. Errors of git and the file system become the `problem`. */
export async function settle(wishes: SettleWishes): Promise<Settled> {
  const { worktree } = wishes;
  const notes: string[] = [];
  const stays: string[] = [];
  let commit: string | undefined;
  let problem: string | undefined;
  try {
    const deviation = await deviationOf(worktree);
    if (deviation === undefined) {
      removeStaleLocks(worktree.gitDir);
      const stored = await storeFiles(wishes, notes, stays);
      commit = stored.commit;
      problem = stored.problem;
    } else problem = `The checkout of the task ${deviation}. Nothing in it was changed.`;
  } catch (error) {
    problem = `The work cannot be committed. ${messageOf(error)}`;
  }
  try {
    if (registrationProblem(worktree) === undefined) await keepOwnCommits(worktree, notes);
  } catch (error) {
    problem ??= `Commits of the agent cannot be kept. ${messageOf(error)}`;
  }
  return { commit, notes, problem, stays: stays.length === 0 ? undefined : stays.join(' ') };
}

/** All processes of the attempt have ended, so a lock in its git directory is stale. */
function removeStaleLocks(gitDir: string): void {
  for (const name of readdirSync(gitDir)) if (name.endsWith('.lock')) rmSync(`${gitDir}/${name}`, { force: true });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function storeFiles(wishes: SettleWishes, notes: string[], stays: string[]) {
  const { worktree, before, index } = wishes;
  const settings = restoring(before.settings, await contentSettings(gitIn(worktree.folder)));
  const baseline = baselineOf(wishes);
  const compared = gitAt(worktree, { settings, ...(baseline !== undefined && { index: baseline }) });
  const ignored = await ignoredPaths(compared);
  const found = findRepositories(worktree.folder, new Set(ignored));
  const inner = await keepInner({
    checkout: worktree,
    repositories: found.repositories,
    git: compared,
    into: (more) => gitIn(worktree.commonDir, { set: { GIT_DIR: worktree.commonDir }, settings: more }),
    owners: [worktree.folder, worktree.gitDir],
    message: wishes.message,
  });
  notes.push(...inner.notes);
  const { tree, missing, reason } = await takeSnapshot({
    checkout: worktree,
    index,
    from: baseline,
    asFiles: inner.asFiles,
    without: inner.separate,
    links: inner.links,
    settings,
  });
  const { startedAt } = before;
  const committed = await commitToBranch(worktree, { tree, startedAt, message: wishes.message });
  const { commit } = committed;
  notes.push(...committed.notes);
  await keepHeads(worktree, inner);
  stays.push(...(await onlyInFolder(wishes, ignored, inner, settings)));
  const lost = [...missing, ...found.unreadable];
  if (lost.length > 0)
    return { commit, problem: `${lost.length} paths cannot be committed: ${listed(lost)}. ${reason}`.trim() };
  await showCommitted(wishes, committed);
  return { commit, problem: undefined };
}

/** Returns the path of the copy of the initial index. Without a copy, the worktree's own index is used. */
function baselineOf({ baseline, worktree, index }: SettleWishes): string | undefined {
  const from = baseline ?? `${worktree.gitDir}/index`;
  if (!existsSync(from)) return undefined;
  const copy = `${index}.from`;
  rmSync(`${copy}.lock`, { force: true });
  copyFileSync(from, copy);
  return copy;
}

async function keepOwnCommits(worktree: Worktree, notes: string[]): Promise<void> {
  const objects = [...rememberedObjects(worktree.gitDir), worktree.startedAt];
  const refs = await keepUnreachable(ownGit(worktree), objects);
  if (refs.length > 0) notes.push(`${refs.length} commits that are on no branch are kept as ${listed(refs)}.`);
}

async function keepHeads(worktree: Worktree, { heads }: Inner): Promise<void> {
  await keepUnreachable(ownGit(worktree), heads);
}

function ownGit({ commonDir }: Worktree): (input: string) => Git {
  return (input) => gitIn(commonDir, { set: { GIT_DIR: commonDir }, input });
}

/** @returns sentences about files that are not committed, although they may belong to the work */
async function onlyInFolder(
  { worktree, before }: SettleWishes,
  ignored: readonly string[],
  { broken }: Inner,
  settings: readonly string[],
): Promise<readonly string[]> {
  const fresh = await newlyIgnored(worktree, ignored, before, settings);
  return [
    ...(fresh.length > 0 ? [`The attempt added ignore rules, so git ignores ${listed(fresh)}.`] : []),
    ...(broken.length > 0 ? [`The .git in ${listed(broken)} is not stored, because git cannot read it.`] : []),
  ];
}

/** Checks out the last commit of the work for the acceptance command. All files have been stored before. */
async function showCommitted({ worktree, index }: SettleWishes, { end, isOnBranch }: Committed): Promise<void> {
  const git = gitAt(worktree);
  const ref = `refs/heads/${worktree.branch}`;
  copyFileSync(index, `${worktree.gitDir}/index`);
  rmSync(`${worktree.gitDir}/MERGE_HEAD`, { force: true });
  if (isOnBranch) await git('symbolic-ref', 'HEAD', ref);
  else await git('update-ref', '--no-deref', 'HEAD', end);
  if (!(await succeeds(git, 'diff-index', '--cached', '--quiet', 'HEAD')))
    await git('read-tree', '--reset', '-u', 'HEAD');
}
