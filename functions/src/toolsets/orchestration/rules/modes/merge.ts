/** One answer out of all, which says what came from whom. Source: docs/semantics.md#orchestration. */
import type { AnsweredCall } from '../calls/calling.ts';
import { fenced } from '../workflows/scope.ts';
import { allFailed, askAll, failureWarnings, isValid, type ModeResult, type Round } from './ask.ts';

interface Merge extends Round {
  /** Who puts the answers together. */
  readonly synthesiser: string;
}

export async function merge(round: Merge): Promise<ModeResult> {
  const answers = await askAll(round);
  const valid = answers.filter(isValid);
  const warnings = failureWarnings(answers);
  const [only] = valid;
  if (only === undefined) return allFailed(answers);
  if (valid.length === 1) {
    return {
      answers,
      output: only.answer.text,
      winner: only.agent,
      explanation: `All of it came from ${only.agent}: nobody else answered.`,
      warnings,
      furtherCalls: [],
    };
  }
  const { synthesiser: agent, ask, signal } = round;
  const synthesis = await ask({
    key: 'merge',
    agent,
    prompt: synthesisPrompt(round.prompt, valid),
    replaceable: true,
    signal,
  });
  const names = valid.map((one) => one.agent);
  if (!isValid(synthesis)) {
    const why = synthesis.kind === 'failed' ? synthesis.reason : 'It answered nothing.';
    return {
      answers,
      output: undefined,
      explanation: `${agent} could not put the answers of ${names.join(' and ')} together: ${why}`,
      warnings,
      furtherCalls: [synthesis],
    };
  }
  return {
    answers,
    output: attributed(synthesis.answer.text, names),
    explanation: `${synthesis.agent} put together the answers of ${names.join(' and ')}.`,
    warnings: [...warnings, ...synthesis.warnings],
    furtherCalls: [synthesis],
  };
}

function synthesisPrompt(prompt: string, valid: readonly AnsweredCall[]): string {
  const names = valid.map(({ agent }) => `[${agent}]`).join(', ');
  return [
    `Make one answer to the task out of the answers below: take what is right and best of each, settle where they contradict each other, and say nothing that none of them says. Mark what came from whom with ${names}, after the sentence or above the code.`,
    fenced('The task', prompt),
    ...valid.map(({ agent, answer }) => fenced(`The answer of ${agent}`, answer.text)),
  ].join('\n\n');
}

/** Names those whose part the synthesis does not mark. */
function attributed(text: string, names: readonly string[]): string {
  const unmarked = names.filter((name) => !text.includes(`[${name}]`));
  if (unmarked.length === 0) return text;
  const whose = unmarked.map((name) => `[${name}]`).join(', ');
  return `${text}\n\nAlso made from the answers of ${whose}, without marking where.`;
}
