/** Tracks outages of coding agents: times in which none of their tasks can run on this machine or account. */
import type { CodingTool } from '../hub/hub.ts';
import type { AttemptFailure, FailureClass } from '../task/failure.ts';
import { type Clock, firstWait, nextWait, timeLeft, type Wait } from './schedule.ts';

/** Maximum sleep, in milliseconds. The limit lets the runner notice a changed clock or a suspended machine. */
const MAX_SLEEP_MS = 30_000;

/**
 * Maximum number of times that a task is returned although the agent works again after each return. After that, the
 * task counts as the cause, for example because its model is not available to the account.
 */
const MAX_RETURNS = 3;

/** Delay until a returned task is available again, in seconds. It also slows down scripts that restart runners. */
export const RETURN_AFTER_SECONDS = 30;

export interface OutageOptions {
  readonly tools: readonly CodingTool[];
  /** Whether the runner waits until a tool works again. A runner that runs a single task ends instead. */
  readonly waits: boolean;
  readonly probe: (tool: CodingTool, failure: FailureClass) => Promise<boolean>;
  readonly say: (message: string) => void;
  readonly clock: Clock;
  readonly ending: AbortSignal;
}

export class Outages {
  private readonly options: OutageOptions;
  private readonly failing = new Map<CodingTool, AttemptFailure>();
  /** Number of returns per task. Not counted if the CLI has reported the end of the limit. */
  private readonly returns = new Map<string, number>();
  private readonly ends: Promise<void>[] = [];
  private wake = new AbortController();

  constructor(options: OutageOptions) {
    this.options = options;
  }

  /** Returns the coding agents without a known outage. */
  get working(): readonly CodingTool[] {
    return this.options.tools.filter((tool) => !this.failing.has(tool));
  }

  /** Returns why a coding agent does not work; undefined if it has no known outage. */
  reasonOf(tool: CodingTool): AttemptFailure | undefined {
    return this.failing.get(tool);
  }

  /**
   * Records a failure. Returns the failure to report, which returns the task if the machine or account is the cause.
   */
  note(tool: CodingTool, taskId: string, failure: AttemptFailure): AttemptFailure {
    if (!failure.isOutage) return failure;
    const returns = (this.returns.get(taskId) ?? 0) + 1;
    if (failure.resetsAt === undefined) {
      this.returns.set(taskId, returns);
      if (returns > MAX_RETURNS) return failure;
    }
    this.begin(tool, failure);
    return failure.returning(RETURN_AFTER_SECONDS);
  }

  /** Resolves when a coding agent works again, or when the runner ends. */
  async change(): Promise<void> {
    const woken = AbortSignal.any([this.wake.signal, this.options.ending]);
    if (woken.aborted) return;
    await new Promise<void>((resolve) => woken.addEventListener('abort', () => resolve(), { once: true }));
  }

  /** Resolves when no probe is running. Call it when the runner ends. */
  async settled(): Promise<void> {
    await Promise.all(this.ends);
  }

  private begin(tool: CodingTool, failure: AttemptFailure): void {
    if (this.failing.has(tool)) return;
    const { clock, say, waits } = this.options;
    this.failing.set(tool, failure);
    const [reason = ''] = failure.message.split('\n');
    if (!waits) {
      say(`${reason} The task is returned to the queue.`);
      return;
    }
    const wait = firstWait(clock.now(), failure.resetsAt);
    const until = wait.kind === 'reset' ? `until ${new Date(wait.at).toISOString()}` : 'until a probe succeeds';
    say(`${reason} The runner stops claiming tasks for ${tool} ${until}.`);
    this.ends.push(this.end(tool, failure.failureClass, wait));
  }

  private async end(tool: CodingTool, failure: FailureClass, first: Wait): Promise<void> {
    const { clock, probe, say, ending } = this.options;
    for (let wait = first; !ending.aborted; ) {
      const left = timeLeft(wait, clock.now());
      if (left > 0) {
        await clock.sleep(Math.min(left, MAX_SLEEP_MS), ending);
      } else if (wait.kind === 'reset' || (await probe(tool, failure).catch(() => false))) {
        this.failing.delete(tool);
        say(`The runner resumes claiming tasks for ${tool}.`);
        this.wake.abort();
        this.wake = new AbortController();
        return;
      } else wait = nextWait(wait, clock.now());
    }
  }
}
