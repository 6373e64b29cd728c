/** The first valid answer wins, and the others are called off. Source: docs/semantics.md#orchestration. */
import type { AnsweredCall, CallResult } from '../calls/calling.ts';
import type { ModelAnswer } from '../hostedAgent.ts';
import { allFailed, answerKey, isValid, type ModeResult, type Round, saysSomething } from './ask.ts';

/**
 * An answer that was cut wins only where none was whole. The others are called off as soon as the first answer has
 * come, and not only when it has been recorded. Comes back when everybody has ended: those who were called off have
 * been recorded as such.
 */
export async function race(round: Round): Promise<ModeResult> {
  const { agents, prompt, signal } = round;
  const over = new AbortController();
  const running = AbortSignal.any([signal, over.signal]);
  let first: string | undefined;
  const arrived: AnsweredCall[] = [];
  const answers = await Promise.all(
    agents.map(async (agent): Promise<CallResult> => {
      const onAnswer = (answer: ModelAnswer): void => {
        if (!answer.complete || !saysSomething(answer)) return;
        first ??= agent;
        over.abort();
      };
      const result = await round.ask({
        key: answerKey(agent),
        agent,
        prompt,
        replaceable: false,
        signal: running,
        onAnswer,
      });
      if (!isValid(result)) return result;
      onAnswer(result.answer); // where it was recorded earlier, nobody was told of it
      arrived.push(result);
      return result;
    }),
  );
  const winner = arrived.find(({ agent }) => agent === first) ?? arrived[0];
  if (winner === undefined) return allFailed(answers);
  const others = answers.filter((result) => result !== winner).map(outcomeOf);
  return {
    answers,
    output: winner.answer.text,
    winner: winner.agent,
    explanation: [`${winner.agent} was the first with a valid answer.`, ...others].join(' '),
    warnings: winner.warnings,
    furtherCalls: [],
  };
}

function outcomeOf(result: CallResult): string {
  const { agent } = result;
  if (result.kind === 'answered') {
    return isValid(result) ? `${agent} answered later.` : `${agent} answered nothing.`;
  }
  return result.end === 'aborted' ? `${agent} was called off.` : `${agent} failed (${result.end}).`;
}
