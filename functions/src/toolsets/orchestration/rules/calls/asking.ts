/** One request to an agent: it is asked, whether that brought an answer, and what is booked for it. */
import { utf8Length } from '../../../../kernel/json.ts';
import type { Timer } from '../../../../kernel/ports.ts';
import {
  type HostedAgent,
  MAX_ANSWER_BYTES,
  type ModelAnswer,
  ModelFailure,
  type ModelRequest,
  type Usage,
} from '../agents/model.ts';
import type { CompletedAttempt } from './attempt.ts';
import { estimatedTokens, NO_USAGE } from './budget.ts';

interface Asking {
  readonly timer: Timer;
  readonly signal: AbortSignal;
  readonly onAnswer?: ((answer: ModelAnswer) => void) | undefined;
}

const UNKNOWN = { outcome_unknown: true };

/** Asks within a time, whatever the agent does with its signal. @returns also the estimated tokens of text that have come */
export async function askOnce(
  agent: HostedAgent,
  question: ModelRequest,
  time: number,
  { timer, signal, onAnswer }: Asking,
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
      ? new ModelFailure('aborted', `The request to ${agent.name} was called off.`, UNKNOWN)
      : new ModelFailure('timeout', `${agent.name} did not answer within ${time} milliseconds.`, UNKNOWN);
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

/** Returns an answer that is too large for the journal as a failure: it is paid for, and not asked for again. */
function storable(agent: string, answer: ModelAnswer): CompletedAttempt {
  const bytes = utf8Length(answer.text);
  if (bytes <= MAX_ANSWER_BYTES) return { answer };
  const message = `${agent} answered with ${bytes} bytes; an answer may have ${MAX_ANSWER_BYTES}.`;
  return { failure: new ModelFailure('malformed', message, { usage: answer.usage }) };
}

export type Outcome =
  | { readonly answer: ModelAnswer }
  | {
      readonly failure: ModelFailure;
      /** Whether its output tokens were used up before any text. */
      readonly ranOut: boolean;
    };

/** An answer without text is a failure; the journal keeps it as the vendor sent it, so that a replay comes to the same. */
export function outcomeOf(agent: string, completed: CompletedAttempt, maxOutputTokens: number): Outcome {
  if ('failure' in completed) return { failure: completed.failure, ranOut: false };
  const { text, complete, usage } = completed.answer;
  if (text.trim() !== '') return completed;
  if (complete) {
    const failure = new ModelFailure('malformed', `${agent} answered without text.`, { usage });
    return { failure, ranOut: false };
  }
  const message = `${agent} used up its ${maxOutputTokens} output tokens before it wrote any text.`;
  return { failure: new ModelFailure('truncated', message, { usage }), ranOut: true };
}

/** The fields of an attempt that say how it ended. */
export function endOf(outcome: Outcome) {
  if ('answer' in outcome) return { end: 'answered' as const, outcome_unknown: false };
  const { kind: end, message: reason, outcome_unknown } = outcome.failure;
  return { end, reason, outcome_unknown };
}

/**
 * Returns the usage to book for an attempt. If it broke off, the vendor's count stands for the beginning of the answer
 * only: at least the text that came is booked, and without text all that was reserved.
 * @param received the text that came, in estimated tokens
 * @param reserved the most that the attempt can take
 * @returns undefined if it is unknown whether the vendor has begun: the reservation then stays
 */
export function bookedFor(outcome: Outcome, received: number, reserved: Usage): Usage | undefined {
  if ('answer' in outcome) return outcome.answer.usage;
  const { kind, outcome_unknown, usage } = outcome.failure;
  if (!outcome_unknown) return usage ?? NO_USAGE;
  const inputTokens = usage?.input_tokens || reserved.input_tokens;
  if (received > 0) {
    const counted = Math.max(usage?.output_tokens ?? 0, received);
    return { input_tokens: inputTokens, output_tokens: Math.min(counted, reserved.output_tokens) };
  }
  // An attempt that Muster called off has taken little: the vendor sees the connection close.
  if (kind === 'aborted') return usage;
  const hasBegun = usage !== undefined || kind === 'timeout';
  return hasBegun ? { input_tokens: inputTokens, output_tokens: reserved.output_tokens } : undefined;
}
