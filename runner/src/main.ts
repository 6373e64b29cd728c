/** `muster-runner`: runs Muster's coding tasks with the coding agents installed on this machine. */
import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { basename, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findInstalled } from './agents/index.ts';
import { parseSettings, type Settings, UsageError } from './arguments.ts';
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
import { USAGE } from './usage.mjs';

/** Messages quote external texts, in which special characters could change the order of a terminal's output. */
const say = (message: string): void => console.error(clean(message));

const NO_PROJECT =
  'The remote "origin" is not on github.com. Set --project <owner/name> for pull requests and for tasks that name a project.';

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
// A claim that is still waiting at the hub must not keep the process running.
process.exit();

async function run(settings: Settings): Promise<boolean> {
  checkSystem(process);
  const shutdown = signalled();
  const env = agentEnvironment(process.env);
  await checkGit(env);
  const repository = await openRepository(settings.repo);
  if (settings.push && !repository.hasOrigin)
    throw new UsageError('--push needs a remote "origin", but the repository has none.');
  const installed = await findInstalled(env, settings.agent, say);
  const machine = { platform: process.platform, uid: process.getuid?.(), env };
  const tools = installed.map(({ agent }) => agent.tool);
  checkAgents(tools, settings.unsafe, machine);
  const worktrees = worktreesFolder(settings);
  checkWorktrees(worktrees);
  const hub = new Hub(new HubConnection(settings.url, settings.token));
  const programs = installed.map(({ name, version }) => ({ name, version }));
  const { agentId, workspace, owner } = await hub.register(programs, {
    serves: settings.for,
    commands: settings.commands,
  });
  const names = installed.map(({ name, version }) => `${name} ${version}`).join(', ');
  say(
    `Runner ${agentId} works on ${repository.project ?? resolve(settings.repo)} with ${names}. Waiting for ${awaited(settings.for, workspace, owner)}.`,
  );
  if (settings.commands) say('The commands that check the results of these tasks run on this machine too.');
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

/** Describes whose tasks the runner waits for, and warns if other people's instructions run on this machine. */
function awaited(serves: Settings['for'], workspace: string, owner: string): string {
  if (serves === 'owner') return `tasks of ${owner} and the agents of ${owner} in the workspace "${workspace}"`;
  return `tasks of every worker in the workspace "${workspace}". The instructions of these tasks run on this machine`;
}

/** Returns a signal that is aborted by the first termination signal, or when the parent script ends. */
function signalled(): AbortSignal {
  const shutdown = new AbortController();
  const end = (): void => {
    if (!shutdown.signal.aborted) say('Stopping: ending coding agents, committing and reporting their work.');
    shutdown.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end);
  process.on('disconnect', end);
  process.channel?.unref();
  return shutdown.signal;
}

/**
 * Returns the folder for worktrees. It is outside the repository: Claude Code treats everything below a `.git` as
 * sensitive, and worktrees inside the checkout would appear in it as changes. See docs/decisions/0025-runner.md.
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
  if (error instanceof HubUnreachable) return `The hub does not respond. Check --url. ${error.message}`;
  if (error instanceof GitError || error instanceof HubRefusal || error instanceof CannotStart) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
