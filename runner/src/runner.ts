/** Claims and runs tasks, one or several in parallel, until it is stopped. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { devNull } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { AgentProgram } from './agents/agent.ts';
import type { InstalledAgent } from './agents/index.ts';
import type { Settings } from './arguments.ts';
import { canCheckMerges } from './git/merge.ts';
import type { Repository } from './git/repository.ts';
import { claimTask } from './hub/claim.ts';
import type { ClaimedTask, CodingTool, Ending, Hub } from './hub/hub.ts';
import { Outages, RETURN_AFTER_SECONDS } from './outage/outages.ts';
import { probeAgent } from './outage/probe.ts';
import type { Clock } from './outage/schedule.ts';
import { Journal } from './outbox/journal.ts';
import { type Delivery, Outbox } from './outbox/outbox.ts';
import { MARK_VARIABLE } from './process/identity.ts';
import { recover } from './recovery.ts';
import type { Redactor } from './redaction.ts';
import { Attempt, type WorkOptions } from './task/attempt.ts';
import { CommandRun } from './task/commandRun.ts';
import { AttemptFailure, type FailureClass } from './task/failure.ts';
import { TaskLog } from './task/log.ts';
import { AttemptRecord } from './task/record.ts';
import { cut } from './text.ts';

/** Time for which one claim waits at the hub, in milliseconds. This is the hub's maximum. */
const CLAIM_WAIT_MS = 25_000;
const RETRY_MS = 5000;

const NO_MERGE_CHECK = 'Reports do not state whether branches merge into their base. This requires git 2.38 or later.';

/** Delay until a task is available again if its attempt could not be recorded, in seconds. */
const UNRECORDED_SECONDS = 60;

/** Time for sending pending entries when the runner stops, in milliseconds. */
const LAST_SENDING_MS = 15_000;
const RECOVERY_INTERVAL_MS = 30_000;

/** Maximum length of a message to the hub, which accepts 5,000 characters. */
const MAX_MESSAGE_CHARACTERS = 4500;

/** Maximum interval between heartbeats, in milliseconds. A heartbeat's response shows whether the task was ended. */
export const MAX_HEARTBEAT_MS = 3000;

export interface RunnerOptions {
  readonly settings: Settings;
  readonly repository: Repository;
  readonly hub: Hub;
  readonly agentId: string;
  readonly installed: readonly InstalledAgent[];
  readonly worktrees: string;
  readonly redactor: Redactor;
  /** Environment of the coding agents. */
  readonly env: NodeJS.ProcessEnv;
  readonly shutdown: AbortSignal;
  readonly say: (message: string) => void;
  readonly clock: Clock;
}

export class Runner {
  private readonly options: RunnerOptions;
  private readonly mark = randomUUID();
  private readonly attempts: string;
  private readonly heartbeatMs: number;
  private readonly project: string | undefined;
  private readonly active = new Set<Outbox>();
  private readonly stopping = new AbortController();
  private readonly taken = new Set<string>();
  private readonly agents: ReadonlyMap<CodingTool, AgentProgram>;
  /** Aborted when the runner is stopped or cannot continue. */
  private readonly ending: AbortSignal;
  private readonly outages: Outages;

  constructor(options: RunnerOptions) {
    this.options = options;
    this.ending = AbortSignal.any([options.shutdown, this.stopping.signal]);
    this.attempts = `${options.repository.stateFolder}/attempts`;
    this.heartbeatMs = Math.min(MAX_HEARTBEAT_MS, (options.settings.lease * 1000) / 4);
    this.project = options.settings.project ?? options.repository.project;
    const { installed, redactor, settings, say, clock } = options;
    this.agents = new Map(installed.map(({ agent }) => [agent.tool, agent]));
    this.outages = new Outages({
      tools: [...this.agents.keys()],
      waits: !settings.once,
      probe: (tool, failure) => this.probe(tool, failure),
      say: (message) => say(redactor.text(message)),
      clock,
      ending: this.ending,
    });
  }

  /**
   * @returns whether all requested tasks were completed
   * @throws HubRefusal if the hub no longer accepts the runner; active attempts are completed and recorded first
   */
  async run(): Promise<boolean> {
    const { settings, say } = this.options;
    const stopWatchdog = startWatchdog(this.mark);
    try {
      if (!(await canCheckMerges())) say(NO_MERGE_CHECK);
      await this.recoverRecords();
      this.ending.addEventListener('abort', () => this.giveUpSendingLater(), { once: true });
      if (settings.once) return await this.once();
      void this.recoverLater();
      await this.loops(settings.concurrency);
      return true;
    } finally {
      if (this.ending.aborted) await this.outages.settled();
      stopWatchdog();
    }
  }

  private async probe(tool: CodingTool, failure: FailureClass): Promise<boolean> {
    const agent = this.agents.get(tool);
    const options = { failure, env: this.options.env, mark: `${this.mark}.probe`, signal: this.ending };
    return agent !== undefined && probeAgent({ agent, ...options });
  }

  private async recoverRecords(): Promise<void> {
    const { settings, repository, hub, agentId, say } = this.options;
    const { attempts, heartbeatMs } = this;
    const hubUrl = settings.url;
    for (const outbox of await recover({ repository, hub, hubUrl, agentId, attempts, heartbeatMs, say }))
      this.active.add(outbox);
  }

  /** Recovers the attempts of runners in other containers when their heartbeats have stopped for long enough. */
  private async recoverLater(): Promise<void> {
    const { clock, say } = this.options;
    while (!this.ending.aborted && AttemptRecord.areLeftAlone(this.attempts)) {
      await clock.sleep(RECOVERY_INTERVAL_MS, this.ending);
      if (this.ending.aborted) return;
      await this.recoverRecords().catch((error: unknown) => say(`Recovery failed. ${String(error)}`));
    }
  }

  /** Runs tasks in parallel loops. If one loop fails, waits until the other loops have ended their attempts. */
  private async loops(count: number): Promise<void> {
    const loops = Array.from({ length: count }, () => this.loop());
    for (const loop of loops) loop.catch(() => this.stopping.abort());
    await Promise.allSettled(loops);
    await Promise.all(loops);
  }

  private async loop(): Promise<void> {
    while (!this.ending.aborted) {
      const task = await this.claim();
      if (task !== undefined) await this.attempt(task);
    }
  }

  private async once(): Promise<boolean> {
    const { settings, say } = this.options;
    while (!this.ending.aborted) {
      const task = await this.claim();
      if (task !== undefined) return this.attempt(task);
      if (settings.task === undefined || this.ending.aborted) continue;
      say(`Cannot claim task ${settings.task}. It was not found, is not for this runner, or is not available.`);
      return false;
    }
    return false;
  }

  /** Waits for a task and claims it. Undefined if no task is available, no coding agent works, or the runner ends. */
  private async claim(): Promise<ClaimedTask | undefined> {
    const { hub, settings, say } = this.options;
    const tools = this.outages.working;
    if (tools.length === 0) {
      await this.outages.change();
      return undefined;
    }
    // During an outage, the claim names the agents that work, and therefore returns no command runs.
    const isAll = tools.length === this.agents.size;
    const wishes = {
      tools: settings.commands && isAll ? undefined : tools,
      leaseSeconds: settings.lease,
      waitMs: CLAIM_WAIT_MS,
      project: this.project,
      taskId: settings.task,
    };
    return claimTask(hub, wishes, { retryMs: RETRY_MS, shutdown: this.ending, say });
  }

  /**
   * @returns whether the task was completed
   * @throws CredentialRefused if the hub refuses the credential in the attempt. The next runner sends the rest
   */
  private async attempt(task: ClaimedTask): Promise<boolean> {
    const { settings, hub, repository, worktrees, agentId, redactor, env, say } = this.options;
    const { id: taskId, epoch, branch, description, tool } = task;
    const mark = `${this.mark}.${taskId}.${epoch}`;
    const worktree = unusedPath(`${worktrees}/${taskId}.${epoch}`);
    const owner = { mark, hub: settings.url, agentId, leaseSeconds: settings.lease };
    const about = { taskId, epoch, description: redactor.text(description) };
    const facts = { ...owner, ...about, branch, worktree };
    let record: AttemptRecord;
    try {
      record = AttemptRecord.create(this.attempts, facts);
    } catch (error) {
      return this.returnUnrecorded(task, error);
    }
    const { journal } = record;
    const outbox = new Outbox({ hub, taskId, epoch, journal, heartbeatMs: this.heartbeatMs, say });
    this.active.add(outbox);
    const doer = (settings.commands ? task.command : undefined) ?? this.agentFor(tool);
    if (doer instanceof AttemptFailure) return this.returnTask(task, record, outbox, doer);
    say(`${taskId}: ${description.split('\n')[0]} (${tool}, branch ${branch}, attempt ${task.attempt})`);
    const work: WorkOptions = {
      repository,
      task,
      outbox,
      log: new TaskLog(redactor, (entry) => outbox.append(entry)),
      redactor,
      worktree,
      worktrees,
      mark,
      env,
      base: settings.base ?? 'HEAD',
      silenceMs: settings.silence * 1000,
      push: settings.push,
      shutdown: this.ending,
      record,
      say,
    };
    const attempt = typeof doer === 'string' ? new CommandRun({ ...work, command: doer }) : this.agentRun(work, doer);
    const { ending, delivery } = await attempt.run();
    return this.concluded(record, outbox, ending, delivery);
  }

  private agentRun(work: WorkOptions, agent: AgentProgram): Attempt {
    const { hub, settings } = this.options;
    const { acceptance, unsafe } = settings;
    const { tool, id } = work.task;
    return new Attempt({
      ...work,
      hub,
      agent,
      taken: this.taken,
      acceptance,
      unsafe,
      project: this.project,
      reported: (failure) => this.outages.note(tool, id, failure),
    });
  }

  /** Returns why the task must be returned if an outage of its agent began while the claim was waiting at the hub. */
  private agentFor(tool: CodingTool): AgentProgram | AttemptFailure {
    const missing = new AttemptFailure('cli_missing', `This runner has no coding agent for ${tool}.`);
    return this.outages.reasonOf(tool) ?? this.agents.get(tool) ?? missing;
  }

  private async returnTask(
    { branch }: ClaimedTask,
    record: AttemptRecord,
    outbox: Outbox,
    { failureClass, message }: AttemptFailure,
  ): Promise<boolean> {
    const text = cut(this.options.redactor.text(message), MAX_MESSAGE_CHARACTERS);
    const failure = { class: failureClass, message: text, returnAfterSeconds: RETURN_AFTER_SECONDS };
    const ending: Ending = { status: 'failed', result: { summary: '', branch }, failure };
    try {
      record.keep(ending);
    } catch {
      // The ending is sent from memory, so the copy on disk matters only if the runner is killed.
    }
    return this.concluded(record, outbox, ending, await outbox.finish(ending));
  }

  /** @returns whether the task was completed */
  private concluded(record: AttemptRecord, outbox: Outbox, ending: Ending, delivery: Delivery): boolean {
    const { say } = this.options;
    const { taskId } = record.facts;
    this.active.delete(outbox);
    const outcome = delivery.delivered ? delivery.outcome : 'not reported';
    say(`${taskId}: ${ending.failure?.class ?? ending.status} (${outcome})`);
    if (delivery.delivered || outbox.stopReason) record.discard();
    else record.leave();
    if (!delivery.delivered && delivery.refused !== undefined) throw delivery.refused;
    return ending.status === 'completed' && delivery.delivered;
  }

  /**
   * Returns a task whose attempt cannot be recorded, for example on a full disk. Without a record, no other runner
   * could finish the attempt if this runner were killed.
   */
  private async returnUnrecorded({ id: taskId, epoch, branch }: ClaimedTask, error: unknown): Promise<boolean> {
    const { hub, say } = this.options;
    const { heartbeatMs } = this;
    const message = `The runner cannot record the attempt on disk. ${error instanceof Error ? error.message : error}`;
    say(`${taskId}: ${message}`);
    const journal = new Journal(devNull);
    const outbox = new Outbox({ hub, taskId, epoch, journal, heartbeatMs, say });
    this.active.add(outbox);
    const failure = { class: 'crashed' as const, message, returnAfterSeconds: UNRECORDED_SECONDS };
    const ending: Ending = { status: 'failed', result: { summary: '', branch }, failure };
    const delivery = await outbox.finish(ending);
    this.active.delete(outbox);
    journal.close();
    if (!delivery.delivered && delivery.refused !== undefined) throw delivery.refused;
    return false;
  }

  private giveUpSendingLater(): void {
    setTimeout(() => {
      for (const outbox of this.active) outbox.abandon();
    }, LAST_SENDING_MS).unref();
  }
}

/** Returns a path that no kept worktree uses. Names repeat if the hub's counters restart. */
function unusedPath(path: string): string {
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? path : `${path}-${number}`;
    if (!existsSync(candidate)) return candidate;
  }
}

/** Starts a process that ends the runner's processes if the runner is killed. Returns a function that stops it. */
function startWatchdog(mark: string): () => void {
  const program = fileURLToPath(new URL('process/watchdog.js', import.meta.url));
  const child = spawn(process.execPath, [program, `${MARK_VARIABLE}=${mark}`], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  child.on('error', () => undefined); // The runner continues without a watchdog.
  child.stdin?.on('error', () => undefined);
  child.unref();
  return () => child.stdin?.end();
}
