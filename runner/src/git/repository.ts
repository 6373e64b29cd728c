/** The repository that a runner works on. The runner never changes the user's checkout. */
import { mkdirSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Git, GitError, gitIn, succeeds } from './git.ts';
import { hostBySsh, projectOfOrigin } from './start/project.ts';

export interface Repository {
  readonly git: Git;
  /** Absolute path of the git directory that all worktrees share: `.git` of the main checkout. */
  readonly commonDir: string;
  /** Folder in the git directory for the runner's state. */
  readonly stateFolder: string;
  /** `owner/name`, if the remote "origin" is a repository on github.com. */
  readonly project: string | undefined;
  readonly hasOrigin: boolean;
}

/** @throws GitError if the path is not in a repository, or HEAD is not a commit */
export async function openRepository(path: string): Promise<Repository> {
  const folder = resolve(path);
  const search = gitIn(folder);
  const paths = await search('rev-parse', '--absolute-git-dir', '--git-common-dir');
  const [gitDir = '', common = ''] = paths.split('\n');
  const commonDir = realpathSync(resolve(folder, common));
  // With GIT_DIR, git does not search. If the repository disappeared, a search would find one in a parent folder.
  const git = gitIn(folder, { set: { GIT_DIR: gitDir } });
  if (!(await succeeds(git, 'rev-parse', '--verify', '--quiet', 'HEAD^{commit}')))
    throw new GitError(`HEAD of ${folder} does not point to a commit. Check out a branch, or make the first commit.`);
  const stateFolder = `${commonDir}/muster`;
  mkdirSync(stateFolder, { recursive: true });
  const origin = await git('remote', 'get-url', 'origin').catch(() => undefined);
  const resolveHost = async (host: string) => hostBySsh(await sshCommand(git), process.env)(host);
  const project = origin === undefined ? undefined : await projectOfOrigin(git, origin, resolveHost);
  return { git, commonDir, stateFolder, project, hasOrigin: origin !== undefined };
}

/** Returns the ssh command that git uses, from the sources in git's order of precedence. */
async function sshCommand(git: Git): Promise<string> {
  const { GIT_SSH_COMMAND: command, GIT_SSH: program } = process.env;
  const configured = await git('config', 'core.sshCommand').catch(() => '');
  return command || configured || (program ? `'${program.replaceAll("'", "'\\''")}'` : 'ssh');
}
