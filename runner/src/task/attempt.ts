/** One attempt at one task: from its claim to its report. */
import { CLIS } from '../clis/index.ts';
import { changesSince } from '../git/changes.ts';
import { commitRest } from '../git/commitRest.ts';
import { GitError } from '../git/git.ts';
import { type Base, type Repository, resolveBase } from '../git/repository.ts';
import { checkOutSubmodules, keepSubmodules } from '../git/submodules.ts';
import { openWorktree, removeWorktree, type Worktree } from '../git/worktree.ts';
import type { ClaimedTask, Ending, Hub } from '../hub/hub.ts';
import type { Delivery, Outbox } from '../outbox/outbox.ts';
import type { Exit } from '../process/program.ts';
import type { Redactor } from '../redaction.ts';
import { type Acceptance, hasPassed, runAcceptance } from './acceptance.ts';
import { runAgent } from './agentRun.ts';
import { parseTaskConfig, type TaskConfig } from './config.ts';
import { AttemptFailure } from './failure.ts';
import { handOver } from './handover.ts';
import type { TaskLog } from './log.ts';
import { promptFor } from './prompt.ts';
import { reportJson } from './report.ts';
import type { Transcript } from './transcript.ts';

export interface AttemptOptions {
  readonly repository: Repository;
  readonly hub: Hub;
  readonly task: ClaimedTask;
  readonly outbox: Outbox;
  readonly log: TaskLog;
  readonly redactor: Redactor;
  /** Where its worktree goes, and below which all runners' are. */
  readonly worktree: string;
  readonly worktrees: string;
  /** Of its processes. */
  readonly mark: string;
  readonly env: NodeJS.ProcessEnv;
  readonly base: string;
  readonly acceptance: string | undefined;
  readonly silenceMs: number;
  readonly push: boolean;
  readonly unsafe: boolean;
  readonly project: string | undefined;
  /** Aborted when the runner is to end. */
  readonly shutdown: AbortSignal;
  /** Keeps the ending where it survives the runner. */
  readonly keep: (ending: Ending) => void;
}

export class Attempt {
  private readonly options: AttemptOptions;
  private readonly beganAt = Date.now();
  private readonly warnings: string[] = [];
  private readonly signal: AbortSignal;
  private base: Base | undefined;
  private worktree: Worktree | undefined;
  private transcript: Transcript | undefined;
  private exit: Exit | undefined;
  private acceptance: Acceptance | undefined;
  private pullRequest: { number: number; url?: string | undefined } | undefined;

  constructor(options: AttemptOptions) {
    this.options = options;
    this.signal = AbortSignal.any([options.outbox.stopped, options.shutdown]);
  }

  /** Never rejects for what goes wrong with the task: that is its ending. */
  async run(): Promise<{ ending: Ending; delivery: Delivery }> {
    const { log, outbox, keep, redactor } = this.options;
    const failure = await this.work().catch(failureFrom);
    if (failure) log.add('system', failure.message, { level: 'error', prefix: failure.failureClass });
    const report = await this.report();
    const result = redactor.json(reportJson(report));
    const ending: Ending =
      failure === undefined
        ? { status: 'completed', result }
        : { status: 'failed', result, failure: describeFailure(failure, redactor) };
    log.close();
    keep(ending);
    await this.cleanUp();
    return { ending, delivery: await outbox.finish(ending) };
  }

  private async work(): Promise<AttemptFailure | undefined> {
    const { task, log, acceptance: usualAcceptance, unsafe } = this.options;
    log.add('system', `Attempt ${task.attempt}: ${task.description}`, { prefix: 'runner' });
    const config = parseTaskConfig(task.config, { unsafe });
    const command = config.acceptance ?? usualAcceptance;
    const worktree = await this.open(config);
    const failure = await this.runAgent(worktree, config, command);
    await this.commit(worktree);
    if (failure === undefined && command !== undefined && !this.signal.aborted) {
      this.acceptance = await this.accept(worktree, config, command);
    }
    const unfinished = command !== undefined && this.acceptance?.exitCode === undefined;
    const outcome = this.judge(failure, unfinished);
    await this.handOver(worktree, config, outcome);
    return outcome;
  }

  private async open(config: TaskConfig): Promise<Worktree> {
    const { repository, task, log, push } = this.options;
    this.base = await resolveBase(repository, config.base ?? this.options.base);
    this.worktree = await openWorktree(repository, {
      folder: this.options.worktree,
      ownFolder: this.options.worktrees,
      branch: task.branch,
      base: this.base.sha,
      fetch: push && repository.hasOrigin,
    });
    const { existed, startedAt, branch } = this.worktree;
    log.add('git', `${existed ? 'Going on with' : 'New'} branch ${branch} at ${startedAt.slice(0, 12)}.`);
    for (const missed of await checkOutSubmodules(this.worktree)) this.warn(missed);
    return this.worktree;
  }

  private async runAgent(
    worktree: Worktree,
    config: TaskConfig,
    acceptance: string | undefined,
  ): Promise<AttemptFailure | undefined> {
    const { task, outbox, log, mark, env, silenceMs, unsafe } = this.options;
    outbox.moveTo('in_progress');
    const run = await runAgent({
      cli: CLIS[task.tool],
      wishes: { model: config.model, allowedTools: config.allowedTools, unsafe },
      prompt: promptFor(task, acceptance),
      folder: worktree.folder,
      env,
      mark,
      log,
      silenceMs: config.silenceSeconds === undefined ? silenceMs : config.silenceSeconds * 1000,
      signal: this.signal,
      onResult: () => outbox.moveTo('waiting'),
    });
    this.transcript = run.transcript;
    this.exit = run.exit;
    return run.failure;
  }

  private async commit(worktree: Worktree): Promise<void> {
    const { task, log } = this.options;
    try {
      const message = commitMessage(task);
      for (const kept of await keepSubmodules(worktree, message)) this.warn(kept);
      const sha = await commitRest(worktree, message);
      if (sha !== undefined) log.add('git', `Committed what was left: ${sha.slice(0, 12)}.`);
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
      this.warn(error.message);
    }
  }

  private accept(worktree: Worktree, config: TaskConfig, command: string): Promise<Acceptance> {
    const { log, mark, env, silenceMs } = this.options;
    const patienceMs = config.silenceSeconds === undefined ? silenceMs : config.silenceSeconds * 1000;
    const { folder } = worktree;
    return runAcceptance({ command, folder, env, mark, log, patienceMs, signal: this.signal });
  }

  /** @param unfinished whether an acceptance command that was to run did not come to its end */
  private judge(failure: AttemptFailure | undefined, unfinished: boolean): AttemptFailure | undefined {
    const { outbox } = this.options;
    if (outbox.stopReason) return new AttemptFailure('cancelled', outbox.stopReason.message);
    if (failure?.failureClass === 'cancelled' || (unfinished && this.signal.aborted))
      return new AttemptFailure('runner_lost', 'The runner was stopped.');
    if (failure !== undefined || this.acceptance === undefined || hasPassed(this.acceptance)) return failure;
    return new AttemptFailure('acceptance_failed', `This did not succeed: ${this.acceptance.command}`);
  }

  /** Pushes the branch, also of work that is to be gone on with, and opens the pull request of work that is done. */
  private async handOver(
    worktree: Worktree,
    config: TaskConfig,
    failure: AttemptFailure | undefined,
  ): Promise<void> {
    const { repository, hub, task, project, push, log } = this.options;
    if (!push && config.pullRequest === undefined) return;
    if (this.options.outbox.stopReason?.reason === 'claim_lost') return;
    try {
      this.pullRequest = await handOver({
        repository,
        hub,
        task,
        project,
        branch: worktree.branch,
        base: this.base?.branch,
        summary: this.transcript?.work().summary ?? '',
        wish: failure === undefined ? config.pullRequest : undefined,
        signal: this.signal,
      });
      log.add(
        'git',
        this.pullRequest ? `Pull request #${this.pullRequest.number}.` : `Pushed ${worktree.branch}.`,
      );
    } catch (error) {
      this.warn(error instanceof Error ? error.message : String(error));
    }
  }

  private warn(message: string): void {
    this.warnings.push(message);
    this.options.log.add('git', message, { level: 'error' });
  }

  private async report() {
    const { task } = this.options;
    const base = await this.comparisonBase();
    return {
      branch: task.branch,
      base,
      changes:
        this.worktree && (await changesSince(this.worktree.git, base, task.branch).catch(() => undefined)),
      work: this.transcript?.work(),
      exit: this.exit,
      acceptance: this.acceptance,
      pullRequest: this.pullRequest,
      warnings: this.warnings,
      durationMs: Date.now() - this.beganAt,
    };
  }

  /** What the task has added counts from where it began; an earlier attempt's work is the task's too. */
  private async comparisonBase(): Promise<string> {
    const { worktree, base } = this;
    if (worktree === undefined || base === undefined) return base?.sha ?? '';
    if (worktree.existed && this.options.task.previous === undefined) return worktree.startedAt;
    return worktree.git('merge-base', base.sha, `refs/heads/${worktree.branch}`).catch(() => base.sha);
  }

  private async cleanUp(): Promise<void> {
    if (this.worktree === undefined) return;
    const { repository, log } = this.options;
    await removeWorktree(repository, this.worktree.folder).catch((error: unknown) =>
      log.add('git', String(error), { level: 'warn' }),
    );
  }
}

function commitMessage({ id, description }: ClaimedTask): string {
  const [subject = ''] = description.trim().split('\n');
  return `${subject.slice(0, 72)}\n\nMuster-Task: ${id}\n`;
}

function failureFrom(error: unknown): AttemptFailure {
  if (error instanceof AttemptFailure) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new AttemptFailure('crashed', message, {
    retryable: !(error instanceof GitError && error.kind === 'permanent'),
  });
}

function describeFailure(failure: AttemptFailure, redactor: Redactor) {
  const message = redactor.text(failure.message).slice(0, 4500);
  return { class: failure.failureClass, message, ...(!failure.retryable && { retryable: false }) };
}
