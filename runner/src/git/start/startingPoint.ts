/** Determines a task's branch and the commit that it starts from, before the worktree is created. */
import { type Git, GitError, succeeds } from '../git.ts';
import type { Repository } from '../repository.ts';
import { type Base, commitOf, compare, type NamedBase, nameBase, settleBase, wantedFor } from './base.ts';
import { branchNames, chooseBranch } from './branchName.ts';
import { requireFree, serially } from './branchUse.ts';
import { persistently } from './persistence.ts';
import { fetchCommit, fetchRefs, type RemoteRefs } from './remote.ts';

/** The attempts take about four seconds in total. In a longer outage, the task is returned to the hub's queue. */
const FETCH_ATTEMPTS = 5;
const FIRST_WAIT_MS = 250;
const LAST_WAIT_MS = 2000;

export interface StartingPointWishes {
  readonly taskId: string;
  /** The task's branch, as the hub named it. */
  readonly branch: string;
  /** Base of a new branch: a branch, tag, commit or `HEAD`. It does not begin with "-". */
  readonly base: string;
  /** Whether the branch is pushed at the end. If so, the branch and the base are fetched from "origin" first. */
  readonly fetch: boolean;
  /** Folder for runners' worktrees. A branch that is checked out in one of them becomes available soon. */
  readonly ownFolder: string;
  readonly signal: AbortSignal;
}

export interface StartingPoint {
  /** Branch to work on. It differs from the requested branch if another branch blocks that name. */
  readonly branch: string;
  /** Whether the branch existed before. A branch that existed only on "origin" now exists in this repository too. */
  readonly existed: boolean;
  /** Commit that the worktree starts from. */
  readonly at: string;
  readonly base: Base;
  /** Branches of "origin"; undefined if the runner did not contact "origin". */
  readonly originBranches: ReadonlySet<string> | undefined;
  /** Sentences for the log about choices that the user may not expect. */
  readonly notes: readonly string[];
}

/**
 * Finds the commit that a task starts from, and updates the task's branch from "origin". In the repository, this
 * changes only the task's branch, and only moves the branch forward.
 * @throws BranchBusy if another worktree uses the task's branch
 * @throws GitError, permanent, if the branch name is invalid or blocked, or if the base does not exist
 * @throws GitError, transient, if "origin" does not respond, or if its branch and the local branch have diverged
 */
export async function findStartingPoint(repository: Repository, wishes: StartingPointWishes): Promise<StartingPoint> {
  const { git } = repository;
  await requireName(git, wishes.branch);
  const names = branchNames(wishes.taskId, wishes.branch);
  const { base, note, origin } = await resolveBase(git, { ...wishes, branches: names });
  const branch = await choose(git, names, origin);
  const notes = note === undefined ? [] : [note];
  if (branch !== wishes.branch) notes.push(`Another branch blocks the name ${wishes.branch}. Using ${branch}.`);
  const existing = await serially(repository, async () => {
    await requireFree(repository, branch, wishes);
    return bringUpToDate(git, branch, origin?.branches.get(branch));
  });
  return {
    branch,
    existed: existing !== undefined,
    at: existing ?? base.sha,
    base,
    originBranches: origin && new Set(origin.branches.keys()),
    notes,
  };
}

/** @throws GitError, permanent, if git does not accept the name, or could read it as an option */
export async function requireName(git: Git, branch: string): Promise<void> {
  const isName =
    !branch.startsWith('-') && branch !== 'HEAD' && (await succeeds(git, 'check-ref-format', `refs/heads/${branch}`));
  if (!isName) throw new GitError(`"${branch}" cannot be the name of a branch.`, { kind: 'permanent' });
}

export interface BaseWishes extends Pick<StartingPointWishes, 'base' | 'fetch' | 'signal'> {
  /** Branches to fetch from "origin" with the base. */
  readonly branches: readonly string[];
}

/**
 * Resolves a base to its current commit. If requested, fetches it and the branches first.
 * @returns also the refs of "origin", if they were fetched, and a note if the remote's base differs from the local one
 * @throws GitError, permanent, if the base does not exist; transient, if "origin" does not respond
 */
export async function resolveBase(git: Git, { base, branches, fetch, signal }: BaseWishes) {
  const named = await nameBase(git, base);
  const fetched = fetch ? await fetchAll(git, branches, named, signal) : undefined;
  return { ...(await settleBase(git, named, fetched?.baseRemote)), origin: fetched?.origin };
}

interface Fetched {
  readonly origin: RemoteRefs;
  readonly baseRemote: RemoteRefs;
}

/** Fetches the task's branch and the base. */
function fetchAll(git: Git, names: readonly string[], named: NamedBase, signal: AbortSignal): Promise<Fetched> {
  const isElsewhere = named.kind === 'remote branch' && named.remote !== 'origin';
  const fetchOnce = async () => {
    const origin = await fetchRefs(git, 'origin', (refs) => {
      const own = names.filter((name) => refs.branches.has(name)).map((name) => `refs/heads/${name}`);
      return [...own, ...(isElsewhere ? [] : wantedFor(named, refs))];
    });
    if (isElsewhere)
      return { origin, baseRemote: await fetchRefs(git, named.remote, (refs) => wantedFor(named, refs)) };
    if (named.kind === 'unknown') await fetchCommit(git, 'origin', named.name);
    return { origin, baseRemote: origin };
  };
  return persistently(fetchOnce, {
    attempts: FETCH_ATTEMPTS,
    firstWaitMs: FIRST_WAIT_MS,
    lastWaitMs: LAST_WAIT_MS,
    canPass: (error) => error instanceof GitError && error.kind === 'transient',
    signal,
  });
}

async function choose(git: Git, names: readonly string[], origin: RemoteRefs | undefined): Promise<string> {
  const local = await git('for-each-ref', '--format=%(refname:lstrip=2)', 'refs/heads/');
  const ignoreCase = await git('config', '--type=bool', 'core.ignoreCase').catch(() => 'false');
  const choice = chooseBranch(names, {
    local: new Set(local.split('\n').filter(Boolean)),
    origin: origin && new Set(origin.branches.keys()),
    ignoreCase: ignoreCase === 'true',
  });
  if (choice.name !== undefined) return choice.name;
  const where = choice.onOrigin ? ' on origin' : '';
  throw new GitError(
    `The branch "${names[0]}" cannot be created, because the branch "${choice.blockedBy}"${where} blocks its name.`,
    { kind: 'permanent' },
  );
}

/**
 * Creates the local branch if only "origin" has it, and moves the local branch forward if "origin" is ahead.
 * @returns the commit of the branch; undefined if neither repository has the branch
 */
async function bringUpToDate(git: Git, branch: string, theirs: string | undefined): Promise<string | undefined> {
  const ref = `refs/heads/${branch}`;
  const ours = await commitOf(git, ref);
  if (theirs === undefined || theirs === ours) return ours;
  if (ours !== undefined) {
    const { ahead, behind } = await compare(git, ours, theirs);
    if (behind === 0) return ours;
    if (ahead > 0) throw diverged(branch);
  }
  await git('update-ref', '-m', 'muster: fetch', ref, theirs, ours ?? '0'.repeat(theirs.length));
  return theirs;
}

export function diverged(branch: string): GitError {
  return new GitError(`The local branch "${branch}" and that of origin have diverged. Merge or rename one of them.`, {
    kind: 'transient',
  });
}
