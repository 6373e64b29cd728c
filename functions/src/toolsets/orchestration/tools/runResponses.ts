/** Converts runs to the results of the orchestration tools. */
import { z } from 'zod';
import { budgetResponse } from '../../../graph/rules/budget.ts';
import { shownCost } from '../../../graph/rules/graphNode.ts';
import { type ErrorCode, MusterError } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { columnLines, quotedLines, terminalLines } from '../../../kernel/text.ts';
import type { CallContext, McpTaskState } from '../../../mcp/callContext.ts';
import type { OrchestrationServices } from '../create.ts';
import type { RunRequest } from '../rules/runs/order.ts';
import { isEnded, LEASE_MS, type Run, type ShownStep } from '../rules/runs/run.ts';
import type { StartedRun } from '../rules/runs/runService.ts';
import { budgetReason, type RunView } from '../rules/runs/visibility.ts';
import { type RunResponse, runShape } from './orchestrationResponses.ts';

type Context = CallContext<OrchestrationServices>;

/** Maximum length in characters of a step's output in a response. The result of the run is never shortened. */
const EXCERPT_LENGTH = 1000;

/** Returns the tool result for a run. @param full whether to return all outputs without shortening */
export function runResponse(
  { visibility, run, steps, at, budgets }: RunView,
  cached = false,
  full = false,
): RunResponse {
  return {
    success: true,
    result: steps.find(({ id }) => id === run.result_step)?.output,
    metadata: {
      workflow: run.workflow,
      agents: [...new Set(steps.flatMap(participants))],
      cached,
      duration: (run.ended_at ?? at).getTime() - run.created_at.getTime(),
    },
    runId: run.id,
    status: run.status,
    error: run.failure,
    next: isEnded(run) ? undefined : nextCall(run),
    steps: steps.map((step) => stepResponse(step, full)),
    running: isEnded(run) ? [] : [...run.current],
    attempts: steps.flatMap(attemptsOf),
    usage: {
      inputTokens: run.spent.input_tokens,
      outputTokens: run.spent.output_tokens,
      costUsd: shownCost(run.spent),
      unpricedTokens: run.spent.unpriced_tokens,
    },
    selection: run.selection && { ...run.selection, reasons: [...run.selection.reasons] },
    warnings: [...run.warnings],
    budgets: budgets.length === 0 ? undefined : budgets.map(budgetResponse),
    withheld: visibility === 'course' || undefined,
  };
}

/** @throws MusterError with the code of the cause if the run has failed; CONFLICT if the run was cancelled */
export function requireNotFailed({ id, status, failure }: Run): void {
  const about = { runId: id };
  const suggestion = `orchestration.get_run with runId "${id}" returns every step and attempt.`;
  if (status === 'cancelled')
    throw new MusterError('CONFLICT', 'The run was cancelled.', { reason: 'CANCELLED', about, suggestion });
  if (status !== 'failed') return;
  const { reason, message } = failure ?? { reason: 'FAILED', message: 'The run has failed.' };
  throw new MusterError(CODES[reason] ?? 'MODEL_ERROR', message, { reason, about, suggestion });
}

/** Error codes for failure reasons that are not classes of model failures. */
const CODES: Readonly<Record<string, ErrorCode>> = {
  BUDGET_EXHAUSTED: 'QUOTA_EXCEEDED',
  DEADLINE: 'TIMEOUT',
  PROMPT_TOO_LARGE: 'VALIDATION_ERROR',
  CONDITION_FAILED: 'VALIDATION_ERROR',
  EXECUTION_FAILED: 'INTERNAL',
};

function nextCall({ id, status, budget_wait }: Run): string {
  const why = budget_wait
    ? budgetText(budget_wait)
    : status === 'waiting'
      ? 'A live agent holds a step of the run.'
      : 'The run is in progress.';
  return `${why} Call orchestration.get_run with runId "${id}" and waitMs to wait for the run, or orchestration.cancel_run to end it.`;
}

/** Returns a step of the response. The response schema later removes the fields that callers do not see. */
function stepResponse(step: ShownStep, full: boolean): RunResponse['steps'][number] {
  const { iteration, agents, output, results, explanation, failure, started_at, settled_at } = step;
  const excerpt = (text: string | undefined) => (full ? text : shortened(text));
  return {
    ...step,
    iteration: iteration > 1 ? iteration : undefined,
    agent: agents.join(', '),
    output: excerpt(output),
    results: results?.map((result) => ({ ...result, output: excerpt(result.output) })),
    explanation: explanation || undefined,
    error: failure?.message,
    startedAt: started_at.toISOString(),
    settledAt: settled_at?.toISOString(),
  };
}

function shortened(text: string | undefined): string | undefined {
  if (text === undefined || text.length <= EXCERPT_LENGTH) return text;
  const characters = [...text.slice(0, 2 * EXCERPT_LENGTH)];
  if (characters.length <= EXCERPT_LENGTH) return text;
  return `${characters.slice(0, EXCERPT_LENGTH).join('')}…`;
}

function attemptsOf({ name, attempts }: ShownStep): RunResponse['attempts'] {
  return attempts.map((attempt) => ({
    ...attempt,
    step: name,
    outcome: attempt.end,
    tokens: { input: attempt.usage.input_tokens, output: attempt.usage.output_tokens },
    outcomeUnknown: attempt.outcome_unknown || undefined,
  }));
}

/** Returns the agents that took part in a step. A step on a live agent has no attempts that name the agent. */
function participants({ attempts, agents, task_id }: ShownStep): readonly string[] {
  if (task_id !== undefined) return agents;
  return attempts.filter(({ end }) => end === 'answered').map(({ agent }) => agent);
}

/** Maximum waiting time of a call in milliseconds. The whole call may take 50 seconds. */
export const MAX_WAIT_MS = 45_000;
const RESPONSE_MARGIN_MS = 5000;

/** Data stored for a call with an idempotency key, with which a repeated call finds the run. */
const storedStart = z.object({ runId: z.string(), cached: z.boolean() });

export const startsRun = {
  returnsWhole: true,
  output: runShape,
  // Starting a run counts as destructive, because the cost of a request to a model cannot be undone.
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  role: 'worker',
  approvable: true,
  loosens: [],
  notifies: true,
  replay: (context: Context, _input: unknown, stored: JsonObject) => replayResponse(context, stored),
  task: {
    ids: /^run-[a-z2-7]{20}$/,
    state: async (context: Context, runId: string) =>
      taskStateOf(context, await context.services.orchestration.runs.find(context.principal, runId)),
    response: (context: Context, runId: string) => responseOf(context, { runId, cached: false }, 0),
  },
} as const;

/** Starts the run, waits for it, and returns the response. */
export async function runAndRespond(context: Context, request: RunRequest, waitMs?: number): Promise<RunResponse> {
  const { services, principal, workspace, operation, traceparent } = context;
  const { runs } = services.orchestration;
  const beginning = await runs.start(principal, workspace, { ...request, traceparent }, ({ runId, cached }) => {
    // Even if the response to the commit is late, the run may have been started.
    setTimeoutText(context, runId);
    return operation.recordResponse({ runId, cached });
  });
  return responseOf(context, beginning, waitMs);
}

/** Responds to a repeated call: waits for the run that the first call started. */
export async function replayResponse(context: Context, stored: JsonObject, waitMs?: number): Promise<RunResponse> {
  const beginning = storedStart.parse(stored);
  await context.services.orchestration.runs.dispatchPending(beginning.runId);
  return responseOf(context, beginning, waitMs);
}

async function responseOf(context: Context, { runId, cached }: StartedRun, waitMs = MAX_WAIT_MS): Promise<RunResponse> {
  const { respondWithTask } = context;
  const view = await awaitedRun(context, runId, respondWithTask ? Math.min(waitMs, TASK_AFTER_MS) : waitMs);
  requireNotFailed(view.run);
  if (!isEnded(view.run)) respondWithTask?.(taskStateOf(context, view.run));
  return runResponse(view, cached);
}

/** Time after which a call becomes a task, in milliseconds, if the client supports tasks. */
const TASK_AFTER_MS = 5000;
const TASK_POLL_MS = 2000;

/** Returns the state of a run that MCP shows as a task. The lease shows when an instance last worked on the run. */
function taskStateOf({ directory }: Context, run: Run): McpTaskState {
  const { id, status, created_at, ended_at, lease_expires_at, budget_wait } = run;
  const leasedAt = lease_expires_at && new Date(lease_expires_at.getTime() - LEASE_MS);
  return {
    id,
    status: status === 'cancelled' ? status : isEnded(run) ? 'ended' : 'working',
    message: isEnded(run) ? undefined : directory.named(progressText(run)),
    createdAt: created_at,
    changedAt: ended_at ?? leasedAt ?? budget_wait?.since ?? created_at,
    kept: 'runs',
    pollMs: TASK_POLL_MS,
    waitsFor: budget_wait?.is_spent ? { budget: budget_wait.key } : undefined,
    cancel: { tool: 'orchestration.cancel_run', args: { runId: id } },
  };
}

/** Waits until the run has ended or the time is over, and reports progress. @throws MusterError NOT_FOUND */
export async function awaitedRun(context: Context, runId: string, waitMs: number): Promise<RunView> {
  setTimeoutText(context, runId);
  const { services, principal, progress, disconnectSignal, trackWait, timeLeft } = context;
  const { runs } = services.orchestration;
  const view = await runs.view(principal, runId);
  const longest = Math.floor(Math.min(waitMs, MAX_WAIT_MS, timeLeft() - RESPONSE_MARGIN_MS));
  if (longest <= 0 || isEnded(view.run)) return view;
  const paused = new AbortController();
  const until = AbortSignal.any([disconnectSignal(), AbortSignal.timeout(longest), paused.signal]);
  const report = reporting(progress);
  const noted = (run: Run) => {
    report(run);
    // Only a person can raise an exhausted budget, which may take hours.
    if (run.budget_wait?.is_spent) paused.abort();
  };
  await trackWait(runs.follow(runId, until, noted));
  return runs.view(principal, runId);
}

function setTimeoutText({ onTimeout }: Context, runId: string): void {
  onTimeout({
    about: { runId },
    suggestion: `If the run was started, it continues: orchestration.get_run with runId "${runId}" returns its result.`,
  });
}

/** Reports each step once, with increasing progress numbers, even if an instance repeats the step after a crash. */
function reporting(progress: Context['progress']): (run: Run) => void {
  let reported = -1;
  return (run) => {
    const done = 2 * run.steps_settled + (run.current.length > 0 ? 1 : 0);
    if (done <= reported || isEnded(run)) return;
    reported = done;
    progress({ progress: done, message: progressText(run) });
  };
}

function budgetText(wait: NonNullable<Run['budget_wait']>): string {
  const { why, remedy } = budgetReason(wait);
  return `${why} ${remedy}`;
}

function progressText({ workflow, steps_settled, current, status, budget_wait }: Run): string {
  if (budget_wait !== undefined) return `${workflow}: ${budgetText(budget_wait)}`;
  if (status === 'waiting') return `${workflow}: a live agent is doing ${current.join(', ')}.`;
  if (current.length > 0) return `${workflow}: ${current.join(', ')}.`;
  return `${workflow}: ${steps_settled === 0 ? 'about to start' : `${steps_settled} steps done`}.`;
}

type Shown = z.output<typeof runShape>;

export function runText(run: Shown): string {
  const { runId, status, metadata, usage, error, result, running, selection, warnings, budgets, next } = run;
  const { workflow, agents, cached, duration } = metadata;
  return terminalLines([
    `Run ${runId}: ${status}`,
    `Workflow: ${workflow}${cached ? ', cached' : ''}; agents: ${agents.join(', ') || 'none yet'}`,
    `Took ${duration} ms, cost ${costText(usage)}, ${usage.inputTokens} input tokens, ${usage.outputTokens} output tokens`,
    ...(error ? [`Error: ${error.reason}`, ...quotedLines(error.message)] : []),
    ...(result === undefined ? [] : ['Result:', ...quotedLines(result)]),
    ...(run.withheld === true ? ['Prompts and outputs are omitted: only the run owner sees them.'] : []),
    ...(running.length === 0 ? [] : [`Running: ${running.join(', ')}`]),
    ...titled('Steps:', run.steps.flatMap(stepLines)),
    ...titled('Attempts:', columnLines(run.attempts.map(attemptCells))),
    ...(selection ? [`Chosen: ${selection.agent}, ${selection.workflow}`, ...listed(selection.reasons)] : []),
    ...titled('Warnings:', listed(warnings)),
    ...titled('Budgets:', columnLines((budgets ?? []).map(budgetCells))),
    ...(next === undefined ? [] : [`Next: ${next}`]),
  ]);
}

function costText({ costUsd, unpricedTokens = 0 }: Shown['usage']): string {
  if (costUsd === undefined) return 'unknown';
  return unpricedTokens > 0 ? `$${costUsd} and the unknown cost of ${unpricedTokens} tokens` : `$${costUsd}`;
}

const titled = (title: string, lines: readonly string[]) => (lines.length === 0 ? [] : [title, ...lines]);

const listed = (texts: readonly string[]) => texts.map((text) => `  - ${text}`);

function stepLines(step: Shown['steps'][number]): readonly string[] {
  const { name, iteration, role, agent, status, taskId, output, error, explanation, results = [] } = step;
  const round = iteration === undefined ? '' : `, round ${iteration}`;
  const task = taskId === undefined ? '' : `, task ${taskId}`;
  const { startedAt, settledAt } = step;
  const parts = [
    `  from ${startedAt}${settledAt === undefined ? '' : ` to ${settledAt}`}`,
    ...(explanation === undefined ? [] : [`  ${explanation}`]),
    ...(error === undefined ? [] : ['  error:', ...quotedLines(error)]),
    ...(output === undefined ? [] : quotedLines(output)),
    ...results.flatMap((one) => [
      `  ${one.agent}${one.error === undefined ? ':' : ' failed:'}`,
      ...quotedLines(one.error ?? one.output ?? ''),
    ]),
  ];
  return [`  ${name}: ${status} by ${agent} (${role}${round}${task})`, ...parts.map(indented)];
}

const indented = (line: string) => `  ${line}`;

function attemptCells(attempt: Shown['attempts'][number]): readonly string[] {
  const { step, agent, model, outcome, reason = '', waited, milliseconds, tokens, outcomeUnknown } = attempt;
  return [
    step,
    agent,
    model,
    outcome,
    `${milliseconds} ms`,
    waited > 0 ? `after ${waited} ms` : '',
    `${tokens.input}+${tokens.output} tokens`,
    outcomeUnknown === true ? 'may have been processed and billed' : '',
    reason,
  ];
}

type Budget = NonNullable<Shown['budgets']>[number];

function budgetCells({ kind, id, limit, spent, reserved, left }: Budget): readonly string[] {
  const all = { limit, spent, reserved, left };
  return [`${kind} ${id}`, ...Object.entries(all).map(([name, amount]) => `${name} ${amountText(amount)}`)];
}

function amountText({ money, tokens }: Budget['limit']): string {
  const parts = [money !== undefined && `$${money}`, tokens !== undefined && `${tokens} tokens`];
  return parts.filter(Boolean).join(' and ') || 'none';
}
