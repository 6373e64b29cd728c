/** `muster-runner`: does Muster's coding tasks with the coding agents that are installed here. */
import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { basename, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseSettings, type Settings, USAGE, UsageError } from './arguments.ts';
import { findInstalled } from './clis/index.ts';
import { GitError } from './git/git.ts';
import { openRepository } from './git/repository.ts';
import { HubConnection, HubRefusal, HubUnreachable } from './hub/connection.ts';
import { Hub } from './hub/hub.ts';
import type { Clock } from './outage/schedule.ts';
import { createRedactor } from './redaction.ts';
import { Runner } from './runner.ts';
import { CannotStart, checkAgents, checkGit, checkSystem, checkWorktrees } from './start.ts';
import { agentEnvironment } from './task/agentEnvironment.ts';
import { clean } from './text.ts';

/** Messages quote texts of others, which may have characters that reorder what a terminal shows. */
const say = (message: string): void => console.error(clean(message));

const NO_PROJECT =
  'The remote "origin" is not a repository on github.com: pull requests, and tasks that name a project, need --project <owner/name>.';

const clock: Clock = {
  now: () => ({ wall: Date.now(), steady: performance.now() }),
  sleep: (milliseconds, signal) => delay(milliseconds, undefined, { signal }).catch(() => undefined),
};

try {
  const settings = parseSettings(process.argv.slice(2), process.env);
  if (settings === undefined) console.log(USAGE);
  else process.exitCode = (await run(settings)) ? 0 : 1;
} catch (error) {
  say(explain(error));
  process.exitCode = 1;
}
// A request that waits for a task must not hold the process.
process.exit();

async function run(settings: Settings): Promise<boolean> {
  checkSystem(process);
  const shutdown = signalled();
  const env = agentEnvironment(process.env);
  await checkGit(env);
  const repository = await openRepository(settings.repo);
  if (settings.push && !repository.hasOrigin)
    throw new UsageError('--push: the repository has no remote "origin".');
  const installed = await findInstalled(env);
  const machine = { platform: process.platform, uid: process.getuid?.(), env };
  const tools = installed.map(({ tool }) => tool);
  checkAgents(tools, settings.unsafe, machine);
  const worktrees = worktreesFolder(settings);
  checkWorktrees(worktrees);
  const hub = new Hub(new HubConnection(settings.url, settings.token));
  const programs = installed.map(({ name, version }) => ({ name, version }));
  const { agentId, workspace } = await hub.register(programs, settings.for);
  const names = installed.map(({ name, version }) => `${name} ${version}`).join(', ');
  say(
    `Runner ${agentId} on ${repository.project ?? resolve(settings.repo)} with ${names}. Waiting for ${awaited(settings.for, workspace)}.`,
  );
  if (repository.hasOrigin && (settings.project ?? repository.project) === undefined) say(NO_PROJECT);
  const redactor = createRedactor([settings.token], process.env);
  const identity = { settings, repository, hub, agentId, installed };
  const options = { ...identity, worktrees, redactor, env, shutdown, say, clock };
  try {
    return await new Runner(options).run();
  } finally {
    await hub.close().catch(() => undefined);
  }
}

/** Whose tasks are waited for, in words that say what that means. */
function awaited(serves: Settings['for'], workspace: string): string {
  if (serves === 'owner') return 'tasks that its owner asks for';
  return `tasks of everybody who works in the workspace "${workspace}": what they write is run on this machine`;
}

/** Aborted by the first signal that asks us to end, and by the end of the script that started us. */
function signalled(): AbortSignal {
  const shutdown = new AbortController();
  const end = (): void => {
    if (!shutdown.signal.aborted)
      say('Stopping: coding agents are ended, their work is committed and reported.');
    shutdown.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end);
  process.on('disconnect', end);
  process.channel?.unref();
  return shutdown.signal;
}

/**
 * Not in the repository: Claude Code takes everything below a `.git` for sensitive, and a checkout with worktrees
 * in it is no longer as its user left it. See docs/decisions/0025-runner.md.
 */
function worktreesFolder({ worktrees, repo }: Settings): string {
  if (worktrees !== undefined) return resolve(worktrees);
  const state = process.env['XDG_STATE_HOME'] || `${homedir()}/.local/state`;
  const path = resolve(repo);
  const digest = createHash('sha256').update(path).digest('hex').slice(0, 8);
  return `${state}/muster/worktrees/${basename(path)}-${digest}`;
}

function explain(error: unknown): string {
  if (error instanceof UsageError) return `${error.message}\n\n${USAGE}`;
  if (error instanceof HubUnreachable) return `The hub does not answer: is --url right? ${error.message}`;
  if (error instanceof GitError || error instanceof HubRefusal || error instanceof CannotStart)
    return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
