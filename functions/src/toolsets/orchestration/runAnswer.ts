/** A run in the words of the specification's answers. */
import { type ErrorCode, MusterError } from '../../domain/errors.ts';
import { type AgentResult, isEnded, type Run, type ShownStep } from '../../domain/orchestration/runs/run.ts';
import type { RunView } from '../../domain/orchestration/runs/service.ts';
import type { RunAnswer } from './shapes.ts';

/** Of a step that is not the result, characters. */
const EXCERPT_LENGTH = 1000;

export interface AnswerOptions {
  readonly cached: boolean;
  /** Every step's output whole. */
  readonly full: boolean;
}

export function runAnswer({ run, steps, at }: RunView, { cached, full }: AnswerOptions): RunAnswer {
  const result = steps.find(({ id }) => id === run.resultStep);
  const agents = [...new Set(steps.flatMap(participants))];
  return {
    success: true,
    ...(result?.output !== undefined && { result: result.output }),
    metadata: {
      workflow: run.workflow,
      agents,
      cached,
      duration: (run.endedAt ?? at).getTime() - run.createdAt.getTime(),
    },
    runId: run.id,
    status: run.status,
    ...(run.failure && { error: run.failure }),
    ...(!isEnded(run) && { next: nextCall(run) }),
    steps: steps.map((step) => stepAnswer(step, full)),
    running: isEnded(run) ? [] : [...run.current],
    attempts: steps.flatMap(attemptsOf),
    usage: run.spent,
    ...(run.selection && { selection: { ...run.selection, reasons: [...run.selection.reasons] } }),
    warnings: [...run.warnings],
  };
}

/** @throws MusterError where the run has failed, with what is at fault as its code; CONFLICT where it was cancelled */
export function requireNotFailed({ id, status, failure }: Run): void {
  const about = { runId: id };
  const suggestion = `get_run with runId "${id}" tells every step and attempt.`;
  if (status === 'cancelled') {
    throw new MusterError('CONFLICT', 'The run was cancelled.', { reason: 'CANCELLED', about, suggestion });
  }
  if (status !== 'failed') return;
  const { reason, message } = failure ?? { reason: 'FAILED', message: 'The run has failed.' };
  throw new MusterError(CODES.get(reason) ?? 'MODEL_ERROR', message, { reason, about, suggestion });
}

/** Of what is no model's fault. */
const CODES: ReadonlyMap<string, ErrorCode> = new Map([
  ['BUDGET_EXHAUSTED', 'QUOTA_EXCEEDED'],
  ['DEADLINE', 'TIMEOUT'],
  ['PROMPT_TOO_LARGE', 'VALIDATION_ERROR'],
  ['CONDITION_FAILED', 'VALIDATION_ERROR'],
  ['EXECUTION_FAILED', 'INTERNAL'],
]);

function nextCall({ id, status }: Run): string {
  const why = status === 'waiting' ? 'A live agent has a step in hand.' : 'The run goes on.';
  return `${why} Call get_run with runId "${id}" and waitMs to wait for it, or cancel_run to end it.`;
}

function stepAnswer(step: ShownStep, full: boolean): RunAnswer['steps'][number] {
  const { name, iteration, role, agents, status, output, results, explanation, failure, taskId } = step;
  const excerpt = (text: string): string => (full ? text : shortened(text));
  return {
    name,
    ...(iteration > 1 && { iteration }),
    role,
    agent: agents.join(', '),
    status,
    ...(output !== undefined && { output: excerpt(output) }),
    ...(results && { results: results.map((result) => resultAnswer(result, excerpt)) }),
    ...(explanation !== undefined && explanation !== '' && { explanation }),
    ...(failure && { error: failure.message }),
    ...(taskId !== undefined && { taskId }),
  };
}

function resultAnswer({ agent, output, error }: AgentResult, excerpt: (text: string) => string) {
  return {
    agent,
    ...(output !== undefined && { output: excerpt(output) }),
    ...(error !== undefined && { error }),
  };
}

function shortened(text: string): string {
  const characters = [...text.slice(0, 2 * EXCERPT_LENGTH)];
  if (text.length <= EXCERPT_LENGTH || characters.length <= EXCERPT_LENGTH) return text;
  return `${characters.slice(0, EXCERPT_LENGTH).join('')}…`;
}

function attemptsOf({ name, attempts }: ShownStep): RunAnswer['attempts'] {
  return attempts.map(({ agent, model, end, reason, waited, milliseconds, usage, outcomeUnknown }) => ({
    step: name,
    agent,
    model,
    outcome: end,
    ...(reason !== undefined && { reason }),
    waited,
    milliseconds,
    tokens: { input: usage.inputTokens, output: usage.outputTokens },
    ...(outcomeUnknown && { outcomeUnknown }),
  }));
}

/** Whoever has answered anything in a step; a live agent leaves no attempts. */
function participants({ attempts, agents, taskId }: ShownStep): readonly string[] {
  if (taskId !== undefined) return agents;
  return attempts.filter(({ end }) => end === 'answered').map(({ agent }) => agent);
}
