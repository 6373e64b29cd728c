/** What every tool does that starts a run: begin it, wait for it, and answer what it has come to. */
import { z } from 'zod';
import type { JsonObject } from '../../domain/json.ts';
import { isEnded, type Run } from '../../domain/orchestration/runs/run.ts';
import type { RunView } from '../../domain/orchestration/runs/service.ts';
import type { Beginning, RunRequest } from '../../domain/orchestration/runs/starting.ts';
import type { Settle } from '../../domain/store.ts';
import type { CallContext } from '../../mcp/tool.ts';
import { requireNotFailed, runAnswer } from './runAnswer.ts';
import type { RunAnswer } from './shapes.ts';

/** The most that a call waits, of the 50 seconds that it has. */
export const LONGEST_WAIT_MS = 45_000;

/** What a call keeps of its time for reading the run and answering it. */
const ANSWERING_MS = 5000;

/** What a call with an idempotency key has stored of the run that it began. */
const storedBeginning = z.object({ runId: z.string(), cached: z.boolean() });

/** Starts the run and waits for it. */
export async function runAndAnswer(
  context: CallContext,
  request: RunRequest,
  waitMs: number | undefined,
): Promise<RunAnswer> {
  const { services, principal, workspace, operation } = context;
  const settle: Settle<Beginning> = ({ runId, cached }) => {
    // The commit may be done without its answer coming in time.
    sayIfLate(context, runId);
    return operation.settle({ runId, cached });
  };
  const beginning = await services.orchestration.runs.start(principal, workspace, request, settle);
  return answerOf(context, beginning, waitMs);
}

/** A repeated call waits for the run that the first one has started. */
export async function answerAgain(
  context: CallContext,
  stored: JsonObject,
  waitMs: number | undefined,
): Promise<RunAnswer> {
  const { runId, cached } = storedBeginning.parse(stored);
  await context.services.orchestration.runs.dispatchPending(runId);
  return answerOf(context, { runId, cached }, waitMs);
}

/** @throws MusterError where the run has failed or was cancelled */
async function answerOf(
  context: CallContext,
  { runId, cached }: Beginning,
  waitMs = LONGEST_WAIT_MS,
): Promise<RunAnswer> {
  const view = await awaitedRun(context, runId, waitMs);
  requireNotFailed(view.run);
  return runAnswer(view, { cached, full: false });
}

/**
 * The run when it has ended, or when the time is over. Meanwhile the client is told how far it has come.
 * @throws MusterError NOT_FOUND
 */
export async function awaitedRun(context: CallContext, runId: string, waitMs: number): Promise<RunView> {
  sayIfLate(context, runId);
  const { services, principal, progress, gone, waiting, timeLeft } = context;
  const { runs } = services.orchestration;
  const view = await runs.view(principal, runId);
  const longest = Math.floor(Math.min(waitMs, LONGEST_WAIT_MS, timeLeft() - ANSWERING_MS));
  if (longest <= 0 || isEnded(view.run)) return view;
  const until = AbortSignal.any([gone(), AbortSignal.timeout(longest)]);
  await waiting(runs.follow(runId, until, reporting(progress)));
  return runs.view(principal, runId);
}

function sayIfLate({ ifLate }: CallContext, runId: string): void {
  ifLate({
    about: { runId },
    suggestion: `If the run was begun, it goes on: get_run with runId "${runId}" tells what it comes to.`,
  });
}

/** Each number is higher than the one before: steps may be repeated, and are told once. */
function reporting(progress: CallContext['progress']): (run: Run) => void {
  let told = -1;
  return (run) => {
    const done = 2 * run.stepsSettled + (run.current.length > 0 ? 1 : 0);
    if (done <= told || isEnded(run)) return;
    told = done;
    progress({ progress: done, message: said(run) });
  };
}

function said({ workflow, stepsSettled, current, status }: Run): string {
  if (status === 'waiting') return `${workflow}: a live agent has ${current.join(', ')} in hand.`;
  if (current.length > 0) return `${workflow}: ${current.join(', ')}.`;
  return `${workflow}: ${stepsSettled === 0 ? 'about to begin' : `${stepsSettled} steps done`}.`;
}
