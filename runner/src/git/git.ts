import { devNull } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { sshWithoutPrompts, withoutPrompts, withoutSelection } from './environment.ts';
import { execute } from './execute.ts';
import { isLocked, type RefusalKind, refusalOf } from './refusal.ts';
import { type GitVersion, gitVersion, isBefore } from './version.ts';

/** Maximum attempts of a command while another git process holds a lock, which it usually does for under a second. */
const LOCK_ATTEMPTS = 8;
const LOCK_WAIT_MS = 250;

/**
 * Hooks are turned off, because the user's hooks can prompt, refuse, or run code that a task has added. The file
 * watcher is turned off, because it is not needed. The other settings fix the output format, so that it can be
 * parsed, and set the encoding of commits to UTF-8.
 */
const SETTINGS = [
  `core.hooksPath=${devNull}`,
  'core.fsmonitor=false',
  'core.splitIndex=false',
  'core.untrackedCache=false',
  'log.showSignature=false',
  'i18n.commitEncoding=UTF-8',
  'i18n.logOutputEncoding=UTF-8',
  'color.ui=false',
  'gc.auto=0',
  'maintenance.auto=false',
].flatMap((setting) => ['-c', setting]);

/** First version of git that runs hooks which the configuration names, with any core.hooksPath. */
const NAMED_HOOKS_SINCE: GitVersion = [2, 54];
const NAMED_HOOKS = ['config', '--null', '--name-only', '--get-regexp', String.raw`^hook\..*\.(command|event)$`];

/** Subcommands that run no hooks, because they only read, or write only objects. */
const WITHOUT_HOOKS: ReadonlySet<string | undefined> = new Set([
  'cat-file',
  'check-ignore',
  'check-ref-format',
  'commit-tree',
  'config',
  'diff',
  'diff-index',
  'diff-tree',
  'for-each-ref',
  'hash-object',
  'log',
  'ls-files',
  'ls-remote',
  'ls-tree',
  'merge-base',
  'merge-tree',
  'rev-list',
  'rev-parse',
  'show-ref',
  'var',
  'write-tree',
]);

/** Thrown if git fails. The message contains git's own message. */
export class GitError extends Error {
  readonly kind: RefusalKind;

  constructor(message: string, { kind = refusalOf(message), cause }: { kind?: RefusalKind; cause?: unknown } = {}) {
    super(message, { cause });
    this.kind = kind;
  }
}

/** Runs git with the arguments and returns its output, without the line break at the end. */
export type Git = (...args: readonly string[]) => Promise<string>;

export interface GitOptions {
  /** The user's environment. Variables that select a repository are removed from it. */
  readonly env?: NodeJS.ProcessEnv;
  /** Variables that override `env`, for example `GIT_DIR`. */
  readonly set?: Readonly<Record<string, string>>;
  /** Settings of the form `key=value` that override the user's. */
  readonly settings?: readonly string[];
  readonly input?: string;
}

/**
 * Returns git bound to a folder. Its commands never prompt, run no hooks, and wait for locks of other git processes.
 * @throws GitError if git fails
 */
export function gitIn(folder: string, options: GitOptions = {}): Git {
  const { env = process.env, set = {}, settings = [], input } = options;
  const call = { folder, env: { ...withoutPrompts(withoutSelection(env)), ...set } };
  const own = [...SETTINGS, ...settings.flatMap((setting) => ['-c', setting])];
  return (...args) =>
    pastLocks(async () => {
      const hooks = runsHooks(args) ? await withoutNamedHooks(call) : [];
      const ssh = CONNECTING.has(args[0]) ? await batchMode(call) : {};
      return run({ folder, env: { ...call.env, ...ssh } }, [...own, ...hooks], args, input);
    });
}

/** Retries an action while another git process holds a lock. */
async function pastLocks<T>(action: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await action();
    } catch (error) {
      const isPassing = error instanceof GitError && isLocked(error.message) && attempt < LOCK_ATTEMPTS;
      if (!isPassing) throw error;
      await delay(LOCK_WAIT_MS * attempt);
    }
  }
}

function runsHooks([subcommand, ...args]: readonly string[]): boolean {
  const isRead = subcommand === 'symbolic-ref' && args[0] === '--quiet' && args.length === 2;
  return !isRead && !WITHOUT_HOOKS.has(subcommand);
}

/** Subcommands that can start ssh. */
const CONNECTING: ReadonlySet<string | undefined> = new Set(['fetch', 'lfs', 'ls-remote', 'push', 'submodule']);

/** Returns the environment variable that keeps ssh from prompting; empty if the user has set an ssh command. */
async function batchMode(call: Call): Promise<NodeJS.ProcessEnv> {
  const configured = await run(call, [], ['config', 'core.sshCommand']).catch(() => '');
  return configured === '' ? sshWithoutPrompts(call.env) : {};
}

interface Call {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Returns settings that disable the configured hooks. Hooks are read before each command, as a task can add some. */
async function withoutNamedHooks(call: Call): Promise<readonly string[]> {
  const version = await gitVersion(call.env);
  if (version !== undefined && isBefore(version, NAMED_HOOKS_SINCE)) return [];
  const listed = await run(call, [], NAMED_HOOKS).catch(() => ''); // The command fails if no hooks are configured.
  const names = listed.split('\0').flatMap((key) => key.replace(/^hook\./, '').replace(/\.\w+$/, '') || []);
  return [...new Set(names)].flatMap((name) => ['-c', `hook.${name}.enabled=false`]);
}

function run(
  { folder, env }: Call,
  settings: readonly string[],
  args: readonly string[],
  input?: string,
): Promise<string> {
  return execute(['-C', folder, ...settings, ...args], env, input).catch((error: unknown) => {
    const message = error instanceof Error ? error.message : String(error);
    throw new GitError(`git ${args[0] ?? ''}: ${message}`, { cause: error });
  });
}

/** Returns whether a git command succeeds. */
export async function succeeds(git: Git, ...args: readonly string[]): Promise<boolean> {
  return git(...args).then(
    () => true,
    (error: unknown) => {
      if (error instanceof GitError) return false;
      throw error;
    },
  );
}
