/** Checks, before the first claim, for problems that would make every task fail. */
import { mkdirSync, mkdtempSync, realpathSync, rmdirSync } from 'node:fs';
import { KNOWN_AGENTS } from './agents/known.ts';
import { execute } from './git/execute.ts';
import { type GitVersion, isBefore, versionIn } from './git/version.ts';
import type { CodingTool } from './hub/hub.ts';

/** Thrown if the runner cannot start. The message explains the problem and its fix. */
export class CannotStart extends Error {}

/** First version of git with `ls-files --deduplicate`. */
const MIN_GIT_VERSION: GitVersion = [2, 31];

export interface Machine {
  readonly platform: NodeJS.Platform;
  /** User id of the runner's process; undefined on Windows. */
  readonly uid: number | undefined;
  /** Environment of the coding agents. */
  readonly env: NodeJS.ProcessEnv;
}

/** @throws CannotStart on a system where the runner cannot end processes */
export function checkSystem({ platform }: Pick<Machine, 'platform'>): void {
  if (platform === 'win32')
    throw new CannotStart(
      'The runner does not support Windows. Run it in WSL (https://learn.microsoft.com/windows/wsl/install), with the repository and the coding agents there.',
    );
}

/** @throws CannotStart if git is missing or too old */
export async function checkGit(env: NodeJS.ProcessEnv): Promise<void> {
  const min = MIN_GIT_VERSION.join('.');
  const printed = await execute(['--version'], env).catch(() => undefined);
  if (printed === undefined) throw new CannotStart(`Cannot run git. Install git ${min} or newer.`);
  if (isTooOld(printed))
    throw new CannotStart(`The runner needs git ${min} or newer, but found ${printed.trim()}. Update git.`);
}

/** @param printed output of `git --version`; a version that cannot be parsed counts as new enough */
export function isTooOld(printed: string): boolean {
  const version = versionIn(printed);
  return version !== undefined && isBefore(version, MIN_GIT_VERSION);
}

const KNOWN = KNOWN_AGENTS.map(({ title, program }) => `${title} (${program})`).join(', ');

/** @throws CannotStart if no coding agent is installed, or if one refuses to run in this environment */
export function checkAgents(tools: readonly CodingTool[], unsafe: boolean, { uid, env }: Machine): void {
  if (tools.length === 0)
    throw new CannotStart(`No coding agent found. Install one of these, or name another one with --agent: ${KNOWN}.`);
  // Claude Code 2.1.197 allows root in its own containers, which set these variables.
  const isExcepted = env['IS_SANDBOX'] === '1' || Boolean(env['CLAUDE_CODE_BUBBLEWRAP']);
  if (unsafe && uid === 0 && tools.includes('CLAUDECODE') && !isExcepted)
    throw new CannotStart(
      'Claude Code refuses --unsafe as root. Start the runner as another user; in a container, use "USER node" in its Dockerfile or "docker run --user 1000".',
    );
}

/**
 * Checks the folder for worktrees, and creates it if it does not exist.
 * @throws CannotStart if the runner cannot write to the folder, or if coding agents would refuse to edit files there
 */
export function checkWorktrees(folder: string): void {
  let real: string;
  try {
    mkdirSync(folder, { recursive: true });
    rmdirSync(mkdtempSync(`${folder}/.check-`));
    real = realpathSync(folder);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CannotStart(`Cannot write to the folder for worktrees: ${why}. Set another one with --worktrees.`);
  }
  if (real.split('/').some((name) => name.toLowerCase() === '.git'))
    throw new CannotStart(
      `The folder for worktrees is below a .git folder, where coding agents refuse to edit: ${real}. Set another one with --worktrees.`,
    );
}
