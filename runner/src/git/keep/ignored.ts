/**
 * Finds ignored files that must not be lost. If the repository had the ignore rule before, the files are build
 * outputs or dependencies and are removed with the worktree. If the attempt added the rule, they may not be
 * reproducible.
 */
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { type Checkout, gitAt } from '../checkout.ts';
import type { Git } from '../git.ts';

/** Sources of the ignore rules that applied before the agent ran. */
export interface IgnoredBefore {
  readonly startedAt: string;
  /** Lines of the ignore files outside the worktree. */
  readonly outerRules: readonly string[];
}

/** Returns the lines of the ignore files outside the checkout: info/exclude and core.excludesFile. */
export async function outerRules({ commonDir }: Pick<Checkout, 'commonDir'>, git: Git): Promise<readonly string[]> {
  const configured = await git('config', '--type=path', 'core.excludesFile').catch(() => '');
  const home = process.env['XDG_CONFIG_HOME'] || `${homedir()}/.config`;
  const files = [`${commonDir}/info/exclude`, configured || `${home}/git/ignore`];
  return files.flatMap((file) => (existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []));
}

/** Returns a checkout's ignored paths, without a slash at the end. A fully ignored folder is a single path. */
export async function ignoredPaths(git: Git): Promise<readonly string[]> {
  const listed = await git('ls-files', '--others', '--ignored', '--exclude-standard', '--directory', '-z');
  return listed.split('\0').flatMap((path) => (path === '' ? [] : path.replace(/\/$/, '')));
}

/**
 * Returns the ignored paths that no rule from before the attempt covers. Either only rules that the attempt added
 * ignore them, or git cannot report which rule does.
 */
export async function newlyIgnored(
  checkout: Checkout,
  paths: readonly string[],
  before: IgnoredBefore,
  settings: readonly string[],
): Promise<readonly string[]> {
  if (paths.length === 0) return [];
  const expected = await ignoredBefore(checkout, paths, before, settings);
  // If all files of a folder are ignored, git lists the files and also the folder, even if no rule matches it.
  const parents = new Set(paths.flatMap(parentsOf));
  return paths.filter((path) => !expected.has(path) && !parents.has(path));
}

/** Prefix for paths, so that git does not read the first characters of a path as pattern syntax. */
const HERE = './';

/** Returns the paths that a rule from before the agent ran ignores; no paths if git cannot report the rules. */
async function ignoredBefore(
  checkout: Checkout,
  paths: readonly string[],
  { startedAt, outerRules: outer }: IgnoredBefore,
  settings: readonly string[],
): Promise<ReadonlySet<string>> {
  const input = paths.map((path) => `${HERE}${path}`).join('\0');
  const listed = await gitAt(checkout, { input, settings })(
    'check-ignore',
    '--verbose',
    '-z',
    '--no-index',
    '--stdin',
  ).catch(() => '');
  const fields = listed.split('\0');
  const known = new Map<string, readonly string[]>();
  const rulesOf = async (source: string): Promise<readonly string[]> => {
    const isOuter = resolve(checkout.folder, source).startsWith(`${checkout.folder}/`) === false;
    if (isOuter) return outer;
    return (await gitAt(checkout)('cat-file', 'blob', `${startedAt}:${source}`).catch(() => '')).split('\n');
  };
  const found = new Set<string>();
  for (let at = 0; at + 3 < fields.length; at += 4) {
    const [source = '', , pattern = '', path = ''] = fields.slice(at, at + 4);
    if (!known.has(source)) known.set(source, await rulesOf(source));
    const isKnown = known.get(source)?.some((line) => line.trimEnd() === pattern.trimEnd()) ?? false;
    if (isKnown) found.add(path.slice(HERE.length));
  }
  return found;
}

function parentsOf(path: string): readonly string[] {
  const names = path.split('/').slice(0, -1);
  return names.map((_, index) => names.slice(0, index + 1).join('/'));
}
