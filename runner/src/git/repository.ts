/** The repository that a runner works on, seen from the user's checkout, which is only read. */
import { mkdirSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Git, GitError, gitIn, succeeds } from './git.ts';

export interface Repository {
  readonly git: Git;
  /** What all worktrees share: objects, branches, configuration. */
  readonly commonDir: string;
  /** The runner's own folder in the repository: what it has to remember. */
  readonly stateFolder: string;
  /** `owner/name` on GitHub, told from the remote "origin". */
  readonly project: string | undefined;
  readonly hasOrigin: boolean;
}

/** @throws GitError where there is no repository, or one without a commit */
export async function openRepository(path: string): Promise<Repository> {
  const folder = resolve(path);
  const git = gitIn(folder);
  const commonDir = realpathSync(resolve(folder, await git('rev-parse', '--git-common-dir')));
  if (!(await succeeds(git, 'rev-parse', '--verify', '--quiet', 'HEAD^{commit}')))
    throw new GitError(`${folder} has no commit yet: there is nothing to branch from.`);
  const stateFolder = `${commonDir}/muster`;
  mkdirSync(stateFolder, { recursive: true });
  const origin = await git('remote', 'get-url', 'origin').catch(() => undefined);
  return { git, commonDir, stateFolder, project: origin && projectOf(origin), hasOrigin: origin !== undefined };
}

/** `owner/name` of `git@github.com:owner/name.git`, `https://github.com/owner/name` and the like. */
export function projectOf(remote: string): string | undefined {
  const match = /(?:^|[/@])[^/@:]+\.[^/@:]+(?::\d+)?[:/]([\w.-]+)\/([\w.-]+?)(?:\.git)?\/?$/.exec(remote);
  return match ? `${match[1]}/${match[2]}` : undefined;
}

export interface Base {
  readonly sha: string;
  /** The branch that it is the head of, if it is one. */
  readonly branch: string | undefined;
}

/**
 * @param ref one that does not begin with "-", which git would take for an option
 * @throws GitError where there is no such commit
 */
export async function resolveBase({ git }: Repository, ref: string): Promise<Base> {
  const sha = await git('rev-parse', '--verify', '--quiet', `${ref}^{commit}`).catch(() => {
    throw new GitError(`There is no branch, tag or commit "${ref}" to start from.`);
  });
  const name = await git('rev-parse', '--abbrev-ref', ref).catch(() => '');
  const branch = name.replace(/^origin\//, '');
  return { sha, branch: branch === 'HEAD' || branch === '' ? undefined : branch };
}
