/** Runs the command of a task in a worktree of the branch that it checks, without a coding agent. */
import type { Checkout } from '../git/checkout.ts';
import { checkOutSubmodules } from '../git/keep/submodules.ts';
import { checkMerge, type Merge } from '../git/merge.ts';
import { findCheckedCommit } from '../git/start/checkedCommit.ts';
import { leaveWorktree, openDetached, removeWorktree } from '../git/worktree.ts';
import type { Ending } from '../hub/hub.ts';
import type { Delivery } from '../outbox/outbox.ts';
import { type Acceptance, runAcceptance } from './acceptance.ts';
import type { WorkOptions } from './attempt.ts';
import { conclude, failureFrom, failureOfChecks, messageOf, processesLeft, stopOf } from './conclusion.ts';
import { parseTaskConfig } from './config.ts';
import type { AttemptFailure } from './failure.ts';
import type { Report } from './report.ts';

export interface CommandRunOptions extends WorkOptions {
  readonly command: string;
}

export class CommandRun {
  private readonly options: CommandRunOptions;
  private readonly beganAt = performance.now();
  private readonly warnings: string[] = [];
  private readonly signal: AbortSignal;
  private commit: string | undefined;
  private worktree: Checkout | undefined;
  private acceptance: Acceptance | undefined;
  private merge: Merge | undefined;
  /** Path of the worktree, if it is kept. */
  private kept: string | undefined;

  constructor(options: CommandRunOptions) {
    this.options = options;
    this.signal = AbortSignal.any([options.outbox.stopped, options.shutdown]);
  }

  /**
   * Runs the command and reports whether it succeeded. Until its end, the attempt's record is in the phase `opening`:
   * what the command leaves in the worktree is removed, also if the runner is killed.
   */
  async run(): Promise<{ ending: Ending; delivery: Delivery }> {
    const { outbox } = this.options;
    const failure = await this.work().catch((error: unknown) => stopOf(outbox, this.signal) ?? failureFrom(error));
    return conclude({ ...this.options, failure, report: this.report(), cleanUp: () => this.cleanUp() });
  }

  private async work(): Promise<AttemptFailure | undefined> {
    const { repository, task, log, outbox, push, command, env, mark, silenceMs } = this.options;
    const { signal } = this;
    log.add('system', `Attempt ${task.attempt}: ${task.description}`, { prefix: 'runner' });
    // No coding agent runs, so the task's rules for tools allow nothing.
    const config = parseTaskConfig(task.config, { unsafe: true });
    const { commit, base } = await findCheckedCommit(repository, {
      branch: task.branch,
      commit: task.commit,
      base: config.base ?? this.options.base,
      fetch: push && repository.hasOrigin,
      signal,
    });
    this.commit = commit;
    outbox.moveTo('in_progress');
    this.merge = await checkMerge(repository.git, base, { branch: task.branch, commit }).catch((error: unknown) => {
      this.warn(`It is unknown whether the branch merges into its base. ${messageOf(error)}`);
      return undefined;
    });
    const worktree = await openDetached(repository, this.options.worktree, commit);
    this.worktree = worktree;
    log.add('git', `Checking the branch ${task.branch} at ${commit.slice(0, 12)}.`);
    for (const missed of await checkOutSubmodules(worktree)) this.warn(missed);
    const patienceMs = config.silenceSeconds === undefined ? silenceMs : config.silenceSeconds * 1000;
    const { folder } = worktree;
    if (!signal.aborted) this.acceptance = await runAcceptance({ command, folder, env, mark, log, patienceMs, signal });
    this.kept = processesLeft(mark) && folder;
    const { acceptance, merge } = this;
    const isUnfinished = acceptance?.exitCode === undefined || outbox.stopReason !== undefined;
    const stop = isUnfinished ? stopOf(outbox, signal) : undefined;
    return stop ?? failureOfChecks({ acceptance, merge, areRequired: true, log });
  }

  private warn(message: string): void {
    this.warnings.push(message);
    this.options.log.add('git', message, { level: 'error' });
  }

  private report(): Report {
    const { acceptance, merge, warnings, commit: head, kept: worktree } = this;
    const { branch } = this.options.task;
    const durationMs = Math.round(performance.now() - this.beganAt);
    const unused = { base: undefined, changes: undefined, work: undefined, exit: undefined, pullRequest: undefined };
    return { ...unused, branch, head, acceptance, merge, warnings, worktree, repository: undefined, durationMs };
  }

  /** Removes the worktree, unless a process can still write to it or the command has replaced it. */
  private async cleanUp(): Promise<void> {
    const { worktree } = this;
    const { log, mark, record } = this.options;
    if (worktree === undefined) return;
    try {
      const why = processesLeft(mark) ?? (await removeWorktree(worktree));
      if (why === undefined) return;
      log.add('git', `${why} The worktree is kept: ${worktree.folder}`, { level: 'warn' });
      record.mark('kept');
      await leaveWorktree(worktree);
    } catch (error) {
      log.add('git', messageOf(error), { level: 'warn' });
    }
  }
}
