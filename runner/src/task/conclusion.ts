/** Ends an attempt: stores its outcome, removes its worktree, and sends the outcome. */
import { GitError } from '../git/git.ts';
import type { Merge } from '../git/merge.ts';
import { BranchBusy } from '../git/start/branchUse.ts';
import type { Ending } from '../hub/hub.ts';
import type { Delivery, Outbox } from '../outbox/outbox.ts';
import { listProcesses } from '../process/identity.ts';
import type { Redactor } from '../redaction.ts';
import { clean, cut, cutStart } from '../text.ts';
import { type Acceptance, hasPassed } from './acceptance.ts';
import { AttemptFailure } from './failure.ts';
import type { TaskLog } from './log.ts';
import type { AttemptRecord } from './record.ts';
import { conflictText, type Report, reportJson } from './report.ts';

/** Delay until a task is available again if another attempt uses its branch, in seconds. */
const RUNNER_BUSY_SECONDS = 30;
/** Delay until a task is available again if the user has checked out its branch, in seconds. */
const CHECKOUT_BUSY_SECONDS = 300;

/** Maximum length of a failure message. The hub accepts 5,000 characters. */
const MAX_FAILURE_CHARACTERS = 4500;
/** Parts of a message about a failed command, which together are shorter than that maximum. */
const MAX_COMMAND_CHARACTERS = 300;
const MAX_OUTPUT_CHARACTERS = 4000;

export interface Conclusion {
  readonly failure: AttemptFailure | undefined;
  readonly report: Report;
  readonly outbox: Outbox;
  readonly log: TaskLog;
  readonly redactor: Redactor;
  /** Record on disk that another runner needs to finish the attempt if this runner is killed. */
  readonly record: AttemptRecord;
  readonly say: (message: string) => void;
  readonly cleanUp: () => Promise<void>;
}

export async function conclude(conclusion: Conclusion): Promise<{ ending: Ending; delivery: Delivery }> {
  const { failure, report, outbox, log, redactor, record, say, cleanUp } = conclusion;
  if (failure) log.add('system', failure.message, { level: 'error', prefix: failure.failureClass });
  const result = reportJson(report, redactor);
  const ending: Ending =
    failure === undefined
      ? { status: 'completed', result }
      : { status: 'failed', result, failure: describeFailure(failure, redactor) };
  log.close();
  try {
    record.keep(ending);
  } catch (error) {
    say(`The outcome of the task cannot be written to disk. ${messageOf(error)}`);
  }
  await cleanUp();
  return { ending, delivery: await outbox.finish(ending) };
}

/** @returns the failure, if the hub or the runner's user has stopped the attempt */
export function stopOf({ stopReason }: Outbox, signal: AbortSignal): AttemptFailure | undefined {
  if (stopReason) return new AttemptFailure('cancelled', stopReason.message);
  return signal.aborted ? new AttemptFailure('runner_lost', 'The runner was stopped.') : undefined;
}

export interface Checks {
  readonly acceptance: Acceptance | undefined;
  readonly merge: Merge | undefined;
  /** Whether the task requires the checks. Its failure then contains the end of the output, or the conflicts. */
  readonly areRequired: boolean;
  readonly log: TaskLog;
}

/** @returns the failure, if the command failed or the work does not merge into its base */
export function failureOfChecks({ acceptance, merge, areRequired, log }: Checks): AttemptFailure | undefined {
  if (acceptance !== undefined && !hasPassed(acceptance)) {
    const { command, output, exitCode } = acceptance;
    const failed = `Acceptance command ${exitCode === undefined ? 'was stopped' : 'failed'}:`;
    // The output is already redacted.
    const correction = `${cut(log.redact(command), MAX_COMMAND_CHARACTERS)}\n${cutStart(output, MAX_OUTPUT_CHARACTERS)}`;
    return new AttemptFailure('acceptance_failed', `${failed} ${areRequired ? correction : command}`);
  }
  const conflict = areRequired ? conflictText(merge) : undefined;
  return conflict === undefined ? undefined : new AttemptFailure('acceptance_failed', conflict);
}

/** @returns why the worktree must be kept: a process of the attempt can still write to it */
export function processesLeft(mark: string): string | undefined {
  return listProcesses(mark)?.length === 0 ? undefined : 'Processes of the attempt may still be running.';
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function failureFrom(error: unknown): AttemptFailure {
  if (error instanceof AttemptFailure) return error;
  if (error instanceof GitError && error.kind === 'busy') {
    const isRunners = !(error instanceof BranchBusy) || error.isRunners;
    const returnAfterSeconds = isRunners ? RUNNER_BUSY_SECONDS : CHECKOUT_BUSY_SECONDS;
    return new AttemptFailure('crashed', error.message, { returnAfterSeconds });
  }
  return new AttemptFailure('crashed', messageOf(error), {
    retryable: !(error instanceof GitError && error.kind === 'permanent'),
  });
}

function describeFailure(failure: AttemptFailure, redactor: Redactor) {
  const { failureClass, retryable, returnAfterSeconds } = failure;
  const message = cut(clean(redactor.text(failure.message)), MAX_FAILURE_CHARACTERS).trim() || failureClass;
  return {
    class: failureClass,
    message,
    ...(!retryable && { retryable }),
    ...(returnAfterSeconds !== undefined && { returnAfterSeconds }),
  };
}
