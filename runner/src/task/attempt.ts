/** Runs one attempt at one task, from its claim to its report. */
import type { AgentProgram } from '../agents/agent.ts';
import { changedFiles, changesSince } from '../git/changes.ts';
import { type Settled, settle } from '../git/keep/settle.ts';
import { checkOutSubmodules } from '../git/keep/submodules.ts';
import { checkMerge, type Merge } from '../git/merge.ts';
import type { Repository } from '../git/repository.ts';
import { findStartingPoint, resolveBase, type StartingPoint } from '../git/start/startingPoint.ts';
import {
  type Before,
  leaveWorktree,
  noteBefore,
  openWorktree,
  removeRemains,
  removeWorktree,
  type Worktree,
} from '../git/worktree.ts';
import type { ClaimedTask, Ending, Hub } from '../hub/hub.ts';
import type { Delivery, Outbox } from '../outbox/outbox.ts';
import type { Exit } from '../process/program.ts';
import type { Redactor } from '../redaction.ts';
import { type Acceptance, runAcceptance } from './acceptance.ts';
import { runAgent } from './agentRun.ts';
import { commitMessage } from './commitMessage.ts';
import { conclude, failureFrom, failureOfChecks, messageOf, processesLeft, stopOf } from './conclusion.ts';
import { parseTaskConfig, type TaskConfig } from './config.ts';
import { Conversation } from './conversation.ts';
import { AttemptFailure } from './failure.ts';
import { FILES_INTERVAL_MS, type FileWatch, watchFiles } from './fileWatch.ts';
import { type Destination, destinationOf, handOver, PushRefused } from './handover.ts';
import type { TaskLog } from './log.ts';
import { framed, promptFor } from './prompt.ts';
import type { AttemptRecord } from './record.ts';
import { conflictText, filesJson, type Report } from './report.ts';
import type { Transcript } from './transcript.ts';

/** Options that an attempt with a coding agent and a command run have in common. */
export interface WorkOptions {
  readonly repository: Repository;
  readonly task: ClaimedTask;
  readonly outbox: Outbox;
  readonly log: TaskLog;
  readonly redactor: Redactor;
  /** Path of the attempt's worktree. `worktrees` is the folder for the worktrees of all runners. */
  readonly worktree: string;
  readonly worktrees: string;
  readonly mark: string;
  readonly env: NodeJS.ProcessEnv;
  readonly base: string;
  readonly silenceMs: number;
  readonly push: boolean;
  readonly shutdown: AbortSignal;
  /** Record on disk that another runner needs to finish the attempt if this runner is killed. */
  readonly record: AttemptRecord;
  readonly say: (message: string) => void;
}

export interface AttemptOptions extends WorkOptions {
  readonly hub: Hub;
  readonly agent: AgentProgram;
  /** Ids of the messages about no task that an attempt of this runner has. */
  readonly taken: Set<string>;
  readonly acceptance: string | undefined;
  readonly unsafe: boolean;
  readonly project: string | undefined;
  /** Returns the failure to report. If the machine or the account is the cause, the task is returned to the queue. */
  readonly reported: (failure: AttemptFailure) => AttemptFailure;
}

export class Attempt {
  private readonly options: AttemptOptions;
  private readonly beganAt = performance.now();
  private readonly warnings: string[] = [];
  private readonly signal: AbortSignal;
  private start: StartingPoint | undefined;
  /** Undefined if the work is not pushed. */
  private destination: Destination | undefined;
  private worktree: Worktree | undefined;
  /** Git's state before the agent ran. It is set before an agent starts in the worktree. */
  private before: Before | undefined;
  private settled: Settled | undefined;
  private transcript: Transcript | undefined;
  private exit: Exit | undefined;
  private acceptance: Acceptance | undefined;
  private merge: Merge | undefined;
  private isPushed = false;
  private pullRequest: { number: number; url?: string | undefined } | undefined;

  constructor(options: AttemptOptions) {
    this.options = options;
    this.signal = AbortSignal.any([options.outbox.stopped, options.shutdown]);
  }

  /** Runs the attempt. If the task has a problem, the ending reports it, and the promise does not reject. */
  async run(): Promise<{ ending: Ending; delivery: Delivery }> {
    const { reported, outbox } = this.options;
    const problem = await this.work().catch((error: unknown) => stopOf(outbox, this.signal) ?? failureFrom(error));
    const failure = problem && reported(problem);
    return conclude({ ...this.options, failure, report: await this.report(), cleanUp: () => this.cleanUp() });
  }

  private async work(): Promise<AttemptFailure | undefined> {
    const { task, log, acceptance: usualAcceptance, unsafe } = this.options;
    log.add('system', `Attempt ${task.attempt}: ${task.description}`, { prefix: 'runner' });
    const config = parseTaskConfig(task.config, { unsafe });
    const command = task.acceptance?.command ?? config.acceptance ?? usualAcceptance;
    const worktree = await this.open(config);
    const files = this.watchFiles(worktree);
    const failure = await this.runAgent(worktree, config, command).catch(failureFrom);
    await files.stop();
    const problem = await this.settle(worktree);
    const isReady = failure === undefined && problem === undefined && !this.signal.aborted;
    if (isReady && command !== undefined) this.acceptance = await this.accept(worktree, config, command);
    if (isReady && !this.signal.aborted) this.merge = await this.checkMerge(worktree, config);
    const unfinished = command !== undefined && this.acceptance?.exitCode === undefined;
    const outcome = this.judge(failure ?? problem, unfinished);
    const refused = await this.handOver(worktree, config, outcome);
    return outcome ?? refused;
  }

  private async open(config: TaskConfig): Promise<Worktree> {
    const { repository, task, log, push, project, record } = this.options;
    const { worktree: folder, worktrees: ownFolder } = this.options;
    const isHandedOver = push || config.pullRequest !== undefined;
    const start = await findStartingPoint(repository, {
      taskId: task.id,
      branch: task.branch,
      base: config.base ?? this.options.base,
      fetch: isHandedOver && repository.hasOrigin,
      ownFolder,
      signal: this.signal,
    });
    this.start = start;
    record.useBranch(start.branch);
    if (isHandedOver) this.destination = destinationOf({ repository, project, config, start });
    const worktree = await openWorktree(repository, { folder, ownFolder, ...start });
    this.worktree = worktree;
    for (const note of start.notes) log.add('git', note);
    const kind = start.existed ? 'Existing' : 'New';
    log.add('git', `${kind} branch ${worktree.branch} at ${worktree.startedAt.slice(0, 12)}.`);
    for (const missed of await checkOutSubmodules(worktree)) this.warn(missed);
    const before = await noteBefore(worktree, record.baseline);
    record.startWork({ gitDir: worktree.gitDir, before: { ...before, outerRules: [...before.outerRules] } });
    this.before = before;
    return worktree;
  }

  private async runAgent(
    worktree: Worktree,
    config: TaskConfig,
    acceptance: string | undefined,
  ): Promise<AttemptFailure | undefined> {
    const { task, agent, outbox, log, mark, env, silenceMs, unsafe, taken } = this.options;
    const { model, allowedTools, maxCostUsd, maxTokens, silenceSeconds } = config;
    outbox.moveTo('in_progress');
    const conversation = new Conversation(task.messages, { log, frame: (message) => framed(message, agent), taken });
    void outbox.listen(agent.hearing, task.messages.at(-1)?.id, (messages) => conversation.receive(messages));
    const run = await runAgent({
      agent,
      wishes: { model, allowedTools, unsafe, maxCostUsd },
      caps: { maxCostUsd, maxTokens },
      prompt: promptFor({ ...task, branch: worktree.branch }, acceptance, agent),
      conversation,
      folder: worktree.folder,
      env: task.traceparent === undefined ? env : { ...env, TRACEPARENT: task.traceparent },
      mark,
      log,
      silenceMs: silenceSeconds === undefined ? silenceMs : silenceSeconds * 1000,
      signal: this.signal,
      onResult: () => outbox.moveTo('waiting'),
    });
    this.transcript = run.transcript;
    this.exit = run.exit;
    return run.failure;
  }

  /** @returns the failure of the attempt, if some of the work is only in the worktree */
  private async settle(worktree: Worktree): Promise<AttemptFailure | undefined> {
    const { task, log, record, redactor, mark } = this.options;
    if (this.before === undefined) return undefined;
    const settled = withProcesses(
      await settle({
        worktree,
        before: this.before,
        baseline: record.baseline,
        index: record.index,
        message: commitMessage(redactor.text(task.description), task.id),
      }),
      mark,
    );
    this.settled = settled;
    if (settled.commit !== undefined)
      log.add('git', `Committed the remaining changes: ${settled.commit.slice(0, 12)}.`);
    for (const note of settled.notes) this.warn(note);
    const why = settled.problem ?? settled.stays ?? this.recordSettled();
    if (why === undefined) return undefined;
    const message = `${why} The worktree is kept: ${worktree.folder}`;
    this.warn(message);
    return settled.problem === undefined ? undefined : new AttemptFailure('crashed', message);
  }

  /** @returns why the phase cannot be recorded (the worktree is then kept); undefined if it was recorded */
  private recordSettled(): string | undefined {
    try {
      this.options.record.mark('settled');
      return undefined;
    } catch (error) {
      const why = `The runner cannot record that the work has ended. ${messageOf(error)}`;
      this.settled = this.settled && { ...this.settled, stays: why };
      return why;
    }
  }

  private accept(worktree: Worktree, config: TaskConfig, command: string): Promise<Acceptance> {
    const { log, mark, env, silenceMs } = this.options;
    const patienceMs = config.silenceSeconds === undefined ? silenceMs : config.silenceSeconds * 1000;
    const { folder } = worktree;
    return runAcceptance({ command, folder, env, mark, log, patienceMs, signal: this.signal });
  }

  /** Checks whether the branch merges into its base as it is now. */
  private async checkMerge({ branch }: Worktree, config: TaskConfig): Promise<Merge | undefined> {
    const { git, hasOrigin } = this.options.repository;
    const into = this.start?.base.branch;
    if (into === undefined) return undefined;
    const name = config.base ?? this.options.base;
    try {
      const { base } = await resolveBase(git, {
        // In the meantime, the user can have checked out another branch.
        base: /^(?:HEAD|@)$/.test(name) ? `refs/heads/${into}` : name,
        branches: [],
        fetch: this.destination !== undefined && hasOrigin,
        signal: this.signal,
      });
      const merge = await checkMerge(git, base, { branch, commit: await git('rev-parse', `refs/heads/${branch}`) });
      const conflict = conflictText(merge);
      if (conflict !== undefined) this.warn(conflict);
      return merge;
    } catch (error) {
      this.warn(`It is unknown whether the branch merges into ${into}. ${messageOf(error)}`);
      return undefined;
    }
  }

  /** Reports to the hub which files the branch changes, while the coding agent works. */
  private watchFiles(worktree: Worktree): FileWatch {
    const { outbox, record, redactor } = this.options;
    const base = this.comparisonBase();
    return watchFiles({
      list: async () => changedFiles(worktree, { base: await base, baseline: record.baseline, index: record.index }),
      send: (files) => outbox.reportFiles(filesJson(files, redactor)),
      everyMs: FILES_INTERVAL_MS,
    });
  }

  /** @param unfinished whether a required acceptance command did not finish */
  private judge(failure: AttemptFailure | undefined, unfinished: boolean): AttemptFailure | undefined {
    const { outbox, task, log } = this.options;
    const isCutShort = outbox.stopReason !== undefined || failure?.failureClass === 'cancelled' || unfinished;
    const stop = isCutShort ? stopOf(outbox, this.signal) : undefined;
    const { acceptance, merge } = this;
    const areRequired = task.acceptance !== undefined;
    return stop ?? failure ?? failureOfChecks({ acceptance, merge, areRequired, log });
  }

  /**
   * Pushes the branch, even if the work is unfinished. Opens the pull request only if the work is finished.
   * @returns the failure if "origin" does not have the work
   */
  private async handOver(
    worktree: Worktree,
    config: TaskConfig,
    failure: AttemptFailure | undefined,
  ): Promise<AttemptFailure | undefined> {
    const { repository, hub, task, redactor, log } = this.options;
    const { destination, signal } = this;
    if (destination === undefined) return undefined;
    if (this.options.outbox.stopReason?.reason === 'claim_lost') return undefined;
    const { branch } = worktree;
    const summary = this.transcript?.work().summary ?? '';
    const wish = failure === undefined ? config.pullRequest : undefined;
    try {
      this.pullRequest = await handOver({
        repository,
        hub,
        task,
        redactor,
        branch,
        summary,
        wish,
        destination,
        onPushed: () => {
          this.isPushed = true;
        },
        signal,
      });
      log.add('git', this.pullRequest ? `Pull request #${this.pullRequest.number}.` : `Pushed ${branch}.`);
    } catch (error) {
      this.warn(error instanceof Error ? error.message : String(error));
      if (error instanceof PushRefused)
        return new AttemptFailure('crashed', error.message, { retryable: error.isPassing });
    }
    return undefined;
  }

  private warn(message: string): void {
    this.warnings.push(message);
    this.options.log.add('git', message, { level: 'error' });
  }

  private async report(): Promise<Report> {
    const { task, repository } = this.options;
    const branch = this.start?.branch ?? task.branch;
    const base = await this.comparisonBase();
    const stays = this.settled?.problem ?? this.settled?.stays;
    const changes = this.worktree && (await changesSince(repository.git, base, branch).catch(() => undefined));
    return {
      branch,
      base,
      head: changes?.head,
      changes,
      work: this.transcript?.work(),
      exit: this.exit,
      acceptance: this.acceptance,
      merge: this.merge,
      pullRequest: this.pullRequest,
      warnings: this.warnings,
      worktree: stays === undefined ? undefined : this.worktree?.folder,
      repository:
        this.isPushed || this.worktree === undefined ? undefined : repository.commonDir.replace(/\/\.git$/, ''),
      durationMs: Math.round(performance.now() - this.beganAt),
    };
  }

  /** Returns the commit before the first attempt. The report compares with it, and so includes all attempts. */
  private async comparisonBase(): Promise<string> {
    const { worktree, start } = this;
    const { repository, task } = this.options;
    if (worktree === undefined || start === undefined) return start?.base.sha ?? '';
    if (start.existed && task.epoch === 1) return worktree.startedAt;
    const { sha } = start.base;
    return repository.git('merge-base', sha, `refs/heads/${worktree.branch}`).catch(() => sha);
  }

  private async cleanUp(): Promise<void> {
    const { repository, log, record } = this.options;
    const { worktree, settled } = this;
    try {
      const problem = await this.removeOrLeave(repository, worktree, settled);
      if (problem !== undefined) log.add('git', problem, { level: 'warn' });
      if (settled?.stays !== undefined) record.mark('kept');
    } catch (error) {
      log.add('git', messageOf(error), { level: 'warn' });
    }
  }

  private async removeOrLeave(
    { commonDir }: Repository,
    worktree: Worktree | undefined,
    settled: Settled | undefined,
  ): Promise<string | undefined> {
    if (worktree === undefined) return undefined;
    // No agent has started, so the folder contains only files that git checked out.
    if (this.before === undefined) return removeRemains(commonDir, worktree.folder);
    if (settled === undefined) return undefined;
    const { problem, stays } = withProcesses(settled, this.options.mark);
    const why = problem ?? stays ?? (await removeWorktree(worktree));
    if (why === undefined) return undefined;
    await leaveWorktree(worktree);
    return why === settled.problem || why === settled.stays ? undefined : why;
  }
}

function withProcesses(settled: Settled, mark: string): Settled {
  return settled.stays === undefined ? { ...settled, stays: processesLeft(mark) } : settled;
}
