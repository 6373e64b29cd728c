/** Stores a checkout's files as a git tree, using a separate index that belongs to the runner. */
import { copyFileSync, existsSync, lstatSync, rmSync } from 'node:fs';
import { type Checkout, gitAt } from '../checkout.ts';
import { type Git, GitError, succeeds } from '../git.ts';

/**
 * Settings with which git detects a changed file by size, time and inode, regardless of user settings, and accepts a
 * file whose line ends or encoding it could not restore.
 */
const SETTINGS = [
  'core.ignoreStat=false',
  'core.trustctime=true',
  'core.checkStat=default',
  'core.safecrlf=false',
  'advice.addEmbeddedRepo=false',
];

export interface SnapshotWishes {
  readonly checkout: Checkout;
  readonly index: string;
  /** Copy of the index from when the agent started. In the current index, an agent can mark files to be skipped. */
  readonly from: string | undefined;
  /** Folders whose files are added although the folder contains a `.git`. */
  readonly asFiles: readonly string[];
  /** Paths whose index entry is not changed. */
  readonly without: readonly string[];
  /** Commits of the submodules to record in the tree, by path. */
  readonly links: Readonly<Record<string, string>>;
  readonly settings: readonly string[];
}

export interface Snapshot {
  readonly tree: string;
  /** Paths that git could not store, and the reasons. */
  readonly missing: readonly string[];
  readonly reason: string;
}

/**
 * Stores a checkout's files. Does not change the checkout's HEAD, its own index, or the lock of that index.
 * @throws GitError if git cannot write a tree
 */
export async function takeSnapshot(wishes: SnapshotWishes): Promise<Snapshot> {
  const { checkout, index, asFiles, without } = wishes;
  const settings = [...SETTINGS, ...wishes.settings];
  const git = (input?: string): Git => gitAt(checkout, { index, settings, ...(input !== undefined && { input }) });
  await startIndex(wishes, git());
  await skipWhatIsSparse(checkout, git);
  await openToFiles(git, asFiles);
  for (const [path, commit] of Object.entries(wishes.links))
    await git()('update-index', '--add', '--cacheinfo', `160000,${commit},${path}`);
  let reason = '';
  const add = async (pathspecs: readonly string[], ...options: readonly string[]): Promise<boolean> => {
    const from = ['--pathspec-from-file=-', '--pathspec-file-nul'];
    try {
      await git(pathspecs.join('\0'))('add', '--all', '--ignore-errors', ...options, ...from);
      return true;
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
      reason ||= error.message;
      return false;
    }
  };
  const unstored = async () => (await changed(git())).filter((path) => !isBelow(path, without));
  const all = ['.', ...without.map((path) => `:(exclude,literal)${path}`)];
  if (!(await add(all))) await addEach(await unstored(), add);
  await addEach(await forced(checkout, git(), without), (paths) => add(paths, '--force'));
  return { tree: await git()('write-tree'), missing: await unstored(), reason };
}

/** Fills the runner's index from the given index, or from the checked-out commit. */
async function startIndex({ checkout, index, from }: SnapshotWishes, git: Git): Promise<void> {
  rmSync(`${index}.lock`, { force: true });
  rmSync(index, { force: true });
  if (from !== undefined && existsSync(from)) copyFileSync(from, index);
  else if (await succeeds(gitAt(checkout), 'rev-parse', '--verify', '--quiet', 'HEAD^{commit}'))
    await git('read-tree', 'HEAD');
}

/** Adds paths to the index. If git refuses a list of paths, adds each half of the list separately. */
async function addEach(
  paths: readonly string[],
  add: (pathspecs: readonly string[]) => Promise<boolean>,
): Promise<void> {
  if (paths.length === 0) return;
  if (await add(paths.map((path) => `:(literal)${path}`))) return;
  if (paths.length === 1) return;
  const middle = Math.ceil(paths.length / 2);
  await addEach(paths.slice(0, middle), add);
  await addEach(paths.slice(middle), add);
}

/** Returns the paths whose files differ from the index. */
async function changed(git: Git): Promise<readonly string[]> {
  return pathsIn(await git('ls-files', '--others', '--modified', '--exclude-standard', '-z', '--deduplicate'));
}

/** Returns the ignored files that the agent has added to the checkout's own index. */
async function forced(checkout: Checkout, git: Git, without: readonly string[]): Promise<readonly string[]> {
  const options = ['--cached', '--ignored', '--exclude-standard', '-z'];
  const theirs = pathsIn(await gitAt(checkout)('ls-files', ...options).catch(() => ''));
  if (theirs.length === 0) return [];
  const ours = new Set(pathsIn(await git('ls-files', '--cached', '-z')));
  return theirs.filter((path) => !ours.has(path) && !isBelow(path, without) && isFile(`${checkout.folder}/${path}`));
}

function isFile(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isFile() === true || found?.isSymbolicLink() === true;
}

function isBelow(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path === folder || path.startsWith(`${folder}/`));
}

function pathsIn(listed: string): readonly string[] {
  return listed.split('\0').filter(Boolean);
}

/**
 * Makes git add the files of inner repositories. Git treats a folder with a `.git` as another repository, unless the
 * index has a file below it. So the index gets a placeholder, which `git add --all` removes later.
 */
async function openToFiles(git: (input?: string) => Git, folders: readonly string[]): Promise<void> {
  if (folders.length === 0) return;
  const empty = await git('')('hash-object', '-w', '--stdin');
  for (const folder of folders) {
    await git()('update-index', '--force-remove', '--', folder);
    await git()('update-index', '--add', '--cacheinfo', `100644,${empty},${folder}/.muster-placeholder`);
  }
}

/** Makes files that the agent's sparse checkout hides count as present and not as deleted. */
async function skipWhatIsSparse(checkout: Checkout, git: (input?: string) => Git): Promise<void> {
  if (!existsSync(`${checkout.gitDir}/info/sparse-checkout`)) return;
  const listed = await gitAt(checkout)('ls-files', '-t', '-z');
  const skipped = listed.split('\0').flatMap((line) => (line.startsWith('S ') ? line.slice(2) : []));
  const absent = skipped.filter((path) => !existsSync(`${checkout.folder}/${path}`));
  if (absent.length > 0) await git(absent.join('\0'))('update-index', '--skip-worktree', '-z', '--stdin');
}
