/** Sends one request to an agent, classifies its outcome, and computes the usage to record for the request. */
import { utf8Length } from '../../../../kernel/json.ts';
import type { Timer } from '../../../../kernel/ports.ts';
import {
  type HostedAgent,
  MAX_MODEL_RESPONSE_BYTES,
  type ModelAnswer,
  ModelFailure,
  type ModelRequest,
  type Usage,
} from '../agents/model.ts';
import type { CompletedAttempt } from './attempt.ts';
import { estimatedTokens, NO_USAGE } from './budget.ts';

interface AskOptions {
  readonly timer: Timer;
  readonly signal: AbortSignal;
  readonly onAnswer?: ((answer: ModelAnswer) => void) | undefined;
}

const UNKNOWN = { outcome_unknown: true };

/** Sends a request with a time limit. @returns its outcome, and the estimated tokens of the received text */
export async function askModel(
  agent: HostedAgent,
  question: ModelRequest,
  time: number,
  { timer, signal, onAnswer }: AskOptions,
): Promise<{ readonly completed: CompletedAttempt; readonly received: number }> {
  const over = new AbortController();
  const within = AbortSignal.any([signal, over.signal]);
  let received = 0;
  const onText = (text: string): void => {
    received += estimatedTokens(text);
  };
  const asking = agent.ask(question, { signal: within, onText }).then(
    (answer) => storable(agent.name, answer),
    (error: unknown): CompletedAttempt => {
      if (error instanceof ModelFailure) return { failure: error };
      throw error;
    },
  );
  const timing = timer.wait(time, within).then((): CompletedAttempt => {
    const failure = signal.aborted
      ? new ModelFailure('aborted', `The request to ${agent.name} was cancelled.`, UNKNOWN)
      : new ModelFailure('timeout', `${agent.name} did not respond within ${time} milliseconds.`, UNKNOWN);
    return { failure };
  });
  try {
    const completed = await Promise.race([asking, timing]);
    if ('answer' in completed) onAnswer?.(completed.answer);
    return { completed, received };
  } finally {
    over.abort();
  }
}

/** Treats an answer that is too large for the journal as a failed request: its cost counts, but it is not retried. */
function storable(agent: string, answer: ModelAnswer): CompletedAttempt {
  const bytes = utf8Length(answer.text);
  if (bytes <= MAX_MODEL_RESPONSE_BYTES) return { answer };
  const message = `The response of ${agent} has ${bytes} bytes; the limit is ${MAX_MODEL_RESPONSE_BYTES}.`;
  return { failure: new ModelFailure('malformed', message, { usage: answer.usage }) };
}

export type Outcome =
  | { readonly answer: ModelAnswer }
  | {
      readonly failure: ModelFailure;
      /** Whether the agent used up its output tokens before it wrote any text. */
      readonly ranOut: boolean;
    };

/** Returns the outcome of an attempt. An answer without text is a failure, even if the journal replays it. */
export function outcomeOf(agent: string, completed: CompletedAttempt, maxOutputTokens: number): Outcome {
  if ('failure' in completed) return { failure: completed.failure, ranOut: false };
  const { text, complete, usage } = completed.answer;
  if (text.trim() !== '') return completed;
  if (complete) {
    const failure = new ModelFailure('malformed', `${agent} returned no text.`, { usage });
    return { failure, ranOut: false };
  }
  const message = `${agent} used up its ${maxOutputTokens} output tokens before it wrote any text.`;
  return { failure: new ModelFailure('truncated', message, { usage }), ranOut: true };
}

/** Returns the fields of an attempt that describe its end. */
export function endOf(outcome: Outcome) {
  if ('answer' in outcome) return { end: 'answered' as const, outcome_unknown: false };
  const { kind: end, message: reason, outcome_unknown } = outcome.failure;
  return { end, reason, outcome_unknown };
}

/**
 * Returns the usage to record for an attempt. If the attempt was interrupted, the vendor may have counted only a part
 * of its output. In this case, at least the received text counts, or all reserved output tokens if no text arrived.
 * @param received estimated tokens of the received text
 * @param reserved the maximum usage of the attempt
 * @returns undefined if the vendor may not have started; then the reservation remains
 */
export function recordedCost(outcome: Outcome, received: number, reserved: Usage): Usage | undefined {
  if ('answer' in outcome) return outcome.answer.usage;
  const { kind, outcome_unknown, usage } = outcome.failure;
  if (!outcome_unknown) return usage ?? NO_USAGE;
  const inputTokens = usage?.input_tokens || reserved.input_tokens;
  if (received > 0) {
    const counted = Math.max(usage?.output_tokens ?? 0, received);
    return { input_tokens: inputTokens, output_tokens: Math.min(counted, reserved.output_tokens) };
  }
  // If Muster aborts an attempt before any text arrives, the vendor stops early, after few output tokens.
  if (kind === 'aborted') return usage;
  const hasStarted = usage !== undefined || kind === 'timeout';
  return hasStarted ? { input_tokens: inputTokens, output_tokens: reserved.output_tokens } : undefined;
}
