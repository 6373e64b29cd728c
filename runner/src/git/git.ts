import { execFile } from 'node:child_process';
import { devNull } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const execute = promisify(execFile);

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
const PATIENCE_MS = 10 * 60_000;

/** Other git processes hold a lock for moments only. */
const LOCKED = /\.lock'?: File exists|could not lock|cannot lock ref|another git process/i;
const LOCK_ATTEMPTS = 8;
const LOCK_WAIT_MS = 250;

/**
 * Hooks are the user's, for what is committed in a checkout. They may ask, refuse, or run what a task has just brought
 * along, and none of it belongs to making a worktree or keeping what is in one. Nor does a program that watches files.
 */
const WITHOUT_HOOKS = ['-c', `core.hooksPath=${devNull}`, '-c', 'core.fsmonitor=false'];

/** Hooks that the configuration names, as git 2.54 and later run them wherever core.hooksPath leads. */
const NAMED_HOOKS = [
  'config',
  '--null',
  '--name-only',
  '--get-regexp',
  String.raw`^hook\..*\.(command|event)$`,
];

/** Git refuses; the message is its own. */
export class GitError extends Error {}

/** Runs git and returns what it printed, without the last line end. */
export type Git = (...args: readonly string[]) => Promise<string>;

/** Git in a folder. It never asks anything, runs no hooks, and waits for other git processes. */
export function gitIn(folder: string, env: NodeJS.ProcessEnv = process.env): Git {
  return async (...args) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await run(folder, [...(await withoutHooks(folder, env)), ...args], env);
      } catch (error) {
        if (!(error instanceof GitError) || !LOCKED.test(error.message) || attempt === LOCK_ATTEMPTS)
          throw error;
        await delay(LOCK_WAIT_MS * attempt);
      }
    }
  };
}

/** Asked each time: what a task installs may bring hooks along. */
async function withoutHooks(folder: string, env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  const listed = await run(folder, NAMED_HOOKS, env).catch(() => ''); // there are none
  const names = listed.split('\0').flatMap((key) => key.replace(/^hook\./, '').replace(/\.\w+$/, '') || []);
  return [...WITHOUT_HOOKS, ...[...new Set(names)].flatMap((name) => ['-c', `hook.${name}.enabled=false`])];
}

async function run(folder: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  try {
    const { stdout } = await execute('git', ['-C', folder, ...args], {
      env: { ...env, GIT_TERMINAL_PROMPT: '0', GIT_EDITOR: 'true', LC_ALL: 'C' },
      maxBuffer: MAX_OUTPUT_BYTES,
      timeout: PATIENCE_MS,
      killSignal: 'SIGKILL',
    });
    return stdout.endsWith('\n') ? stdout.slice(0, -1) : stdout;
  } catch (error) {
    throw new GitError(`git ${subcommandOf(args)}: ${complaintOf(error)}`, { cause: error });
  }
}

function subcommandOf(args: readonly string[]): string {
  return args.find((arg, index) => arg !== '-c' && args[index - 1] !== '-c') ?? '';
}

function complaintOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error);
  if ('code' in error && error.code === 'ENOENT') return 'git is not installed, or the folder is gone';
  if ('stderr' in error && typeof error.stderr === 'string' && error.stderr.trim() !== '')
    return error.stderr.trim();
  return error instanceof Error ? error.message : 'failed';
}

/** Whether git says yes; any refusal is a no. */
export async function succeeds(git: Git, ...args: readonly string[]): Promise<boolean> {
  return git(...args).then(
    () => true,
    (error: unknown) => {
      if (error instanceof GitError) return false;
      throw error;
    },
  );
}
