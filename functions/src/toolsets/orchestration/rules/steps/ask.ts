/**
 * What the modes ask agents with; and all, race and merge. How an agent is called and replaced is not their affair.
 * Source: docs/semantics.md#orchestration.
 */

import type { ModelAnswer } from '../agents/model.ts';
import type { AnsweredCall, CallResult } from '../calls/calling.ts';
import { fenced } from '../workflows/scope.ts';

export interface Question {
  /** Names the call within its step: `answer:claude`. The same question has the same key when it is asked again. */
  readonly key: string;
  readonly agent: string;
  readonly prompt: string;
  /** Whether another agent may answer in its place. Where several answer at once the others do so anyway. */
  readonly replaceable: boolean;
  /** Calls off this question alone. */
  readonly signal?: AbortSignal;
  /** Is told of the answer at once; the result comes when the answer has been recorded. */
  readonly onAnswer?: ((answer: ModelAnswer) => void) | undefined;
}

/** Asks one agent, or where it is replaceable one in its place. Never rejects for a failure of the agent. */
export type Ask = (question: Question) => Promise<CallResult>;

/** What several agents are asked at once. */
export interface Round {
  /** In the order of the request, each once. */
  readonly agents: readonly string[];
  readonly prompt: string;
  readonly ask: Ask;
}

export interface ModeResult {
  /** One for each agent, in the order of the request. */
  readonly answers: readonly CallResult[];
  /** Undefined where all failed. */
  readonly output: string | undefined;
  /** The agent whose answer the output is; undefined where it is nobody's alone. */
  readonly winner?: string;
  /** How it came about, in words. */
  readonly explanation: string;
  /** Whether the answers were compared by what they say, and that decided. */
  readonly judged?: boolean;
  readonly warnings: readonly string[];
  /** Calls that were made to judge or to put together. */
  readonly furtherCalls: readonly CallResult[];
  /** Under which letter each judge saw whose answer. */
  readonly ballots?: readonly Ballot[];
}

export interface Ballot {
  readonly judge: string;
  /** In the order in which they were shown. */
  readonly shown: readonly { readonly letter: string; readonly agent: string }[];
  /** Agents, best first; undefined where the judge gave no ranking. */
  readonly ranking: readonly string[] | undefined;
}

/** A result that has nothing but what is given. */
export function modeResult(
  answers: readonly CallResult[],
  explanation: string,
  rest: Partial<ModeResult> = {},
): ModeResult {
  return { answers, output: undefined, explanation, warnings: [], furtherCalls: [], ...rest };
}

/** Asks all agents and waits for all. */
export function askAll({ agents, prompt, ask }: Round): Promise<readonly CallResult[]> {
  return Promise.all(
    agents.map((agent) => ask({ key: `answer:${agent}`, agent, prompt, replaceable: false })),
  );
}

/** An answer that says something. */
export function isValid(result: CallResult): result is AnsweredCall {
  return result.kind === 'answered' && saysSomething(result.answer);
}

function saysSomething({ text }: ModelAnswer): boolean {
  return text.trim() !== '';
}

/** What is wrong with an answer that is not valid. */
export function reasonOf(result: CallResult): string {
  return result.kind === 'failed' ? `${result.end}: ${result.reason}` : 'It answered nothing.';
}

export function allFailed(answers: readonly CallResult[]): ModeResult {
  const each = answers.map((result) => `${result.agent}: ${reasonOf(result)}`);
  return modeResult(answers, `No agent answered. ${each.join(' ')}`);
}

/** Who failed, for those who go by the others. */
export function failureWarnings(answers: readonly CallResult[]): readonly string[] {
  return answers.flatMap((result) =>
    isValid(result) ? result.warnings : [`${result.agent} gave no answer: ${reasonOf(result)}`],
  );
}

/** Every answer, failures included, in the order of the request. */
export async function all(round: Round): Promise<ModeResult> {
  const answers = await askAll(round);
  const valid = answers.filter(isValid);
  if (valid.length === 0) return allFailed(answers);
  const sections = answers.map(
    (result) =>
      `## ${result.agent}\n\n${isValid(result) ? result.answer.text : `Failed: ${reasonOf(result)}`}`,
  );
  return modeResult(answers, `${valid.length} of ${answers.length} agents answered.`, {
    output: sections.join('\n\n'),
    warnings: failureWarnings(answers),
  });
}

/**
 * The first valid answer wins. An answer that was cut wins only where none was whole. The others are called off as
 * soon as the first answer has come, and not only when it has been recorded. Comes back when everybody has ended:
 * those who were called off have been recorded as such.
 */
export async function race({ agents, prompt, ask }: Round): Promise<ModeResult> {
  const over = new AbortController();
  const { signal } = over;
  let first: string | undefined;
  const arrived: AnsweredCall[] = [];
  const answers = await Promise.all(
    agents.map(async (agent): Promise<CallResult> => {
      const onAnswer = (answer: ModelAnswer): void => {
        if (!answer.complete || !saysSomething(answer)) return;
        first ??= agent;
        over.abort();
      };
      const key = `answer:${agent}`;
      const result = await ask({ key, agent, prompt, replaceable: false, signal, onAnswer });
      if (!isValid(result)) return result;
      onAnswer(result.answer); // where it was recorded earlier, nobody was told of it
      arrived.push(result);
      return result;
    }),
  );
  const winner = arrived.find(({ agent }) => agent === first) ?? arrived[0];
  if (winner === undefined) return allFailed(answers);
  const others = answers.filter((result) => result !== winner).map(outcomeOf);
  const explanation = [`${winner.agent} was the first with a valid answer.`, ...others].join(' ');
  const { answer, agent, warnings } = winner;
  return modeResult(answers, explanation, { output: answer.text, winner: agent, warnings });
}

function outcomeOf(result: CallResult): string {
  const { agent } = result;
  if (result.kind === 'answered') {
    return isValid(result) ? `${agent} answered later.` : `${agent} answered nothing.`;
  }
  return result.end === 'aborted' ? `${agent} was called off.` : `${agent} failed (${result.end}).`;
}

/** One answer out of all, which says what came from whom; the synthesiser puts them together. */
export async function merge(round: Round & { readonly synthesiser: string }): Promise<ModeResult> {
  const answers = await askAll(round);
  const valid = answers.filter(isValid);
  const warnings = failureWarnings(answers);
  const [only] = valid;
  if (only === undefined) return allFailed(answers);
  if (valid.length === 1) {
    const explanation = `All of it came from ${only.agent}: nobody else answered.`;
    return modeResult(answers, explanation, { output: only.answer.text, winner: only.agent, warnings });
  }
  const { synthesiser: agent, ask } = round;
  const prompt = synthesisPrompt(round.prompt, valid);
  const synthesis = await ask({ key: 'merge', agent, prompt, replaceable: true });
  const names = valid.map((one) => one.agent);
  if (!isValid(synthesis)) {
    const why = synthesis.kind === 'failed' ? synthesis.reason : 'It answered nothing.';
    const explanation = `${agent} could not put the answers of ${names.join(' and ')} together: ${why}`;
    return modeResult(answers, explanation, { warnings, furtherCalls: [synthesis] });
  }
  return modeResult(answers, `${synthesis.agent} put together the answers of ${names.join(' and ')}.`, {
    output: attributed(synthesis.answer.text, names),
    warnings: [...warnings, ...synthesis.warnings],
    furtherCalls: [synthesis],
  });
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
