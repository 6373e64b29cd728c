/**
 * Asks several agents and combines their answers in the modes all, race and merge. Calls to a single agent, with
 * retries and fallback agents, are in calls/calling.ts. Source: docs/semantics.md#orchestration.
 */
import type { ModelAnswer } from '../agents/model.ts';
import type { AnsweredCall, CallResult } from '../calls/calling.ts';
import { fenced } from '../workflows/scope.ts';

export interface Question {
  /** Name of the call within its step, such as `answer:claude`. A repeated question has the same name. */
  readonly key: string;
  readonly agent: string;
  readonly prompt: string;
  /** Whether a fallback agent may answer instead. False if enough other agents are asked. */
  readonly replaceable: boolean;
  /** Cancels only this question of the step. */
  readonly signal?: AbortSignal;
  /** Called as soon as the answer arrives. The promise resolves later, after the answer was recorded. */
  readonly onAnswer?: ((answer: ModelAnswer) => void) | undefined;
}

/** Asks one agent and, if replaceable, its fallback agents. If they fail, the promise still resolves. */
export type Ask = (question: Question) => Promise<CallResult>;

export interface Round {
  /** In the order of the request, without duplicates. */
  readonly agents: readonly string[];
  readonly prompt: string;
  readonly ask: Ask;
}

export interface ModeResult {
  /** One result per agent, in the order of the request. */
  readonly answers: readonly CallResult[];
  /** Undefined if all agents failed. */
  readonly output: string | undefined;
  /** Agent whose answer is the output; undefined if the output combines several answers. */
  readonly winner?: string;
  readonly explanation: string;
  /** Whether the output was chosen by comparing the contents of several answers. */
  readonly judged?: boolean;
  readonly warnings: readonly string[];
  /** Calls to the agents that judged or merged the answers. */
  readonly furtherCalls: readonly CallResult[];
  /** The letters under which each judge saw the answers, and the judge's ranking. */
  readonly ballots?: readonly Ballot[];
}

export interface Ballot {
  readonly judge: string;
  /** In the order in which the judge saw the answers. */
  readonly shown: readonly { readonly letter: string; readonly agent: string }[];
  /** Agents in the judge's order, best first; undefined if the judge gave no ranking. */
  readonly ranking: readonly string[] | undefined;
}

export function modeResult(
  answers: readonly CallResult[],
  explanation: string,
  rest: Partial<ModeResult> = {},
): ModeResult {
  return { answers, output: undefined, explanation, warnings: [], furtherCalls: [], ...rest };
}

/** Asks all agents concurrently. Resolves when each of them has answered or failed. */
export function askAll({ agents, prompt, ask }: Round): Promise<readonly CallResult[]> {
  return Promise.all(agents.map((agent) => ask({ key: `answer:${agent}`, agent, prompt, replaceable: false })));
}

/** Returns whether a result is an answer with text. */
export function isValid(result: CallResult): result is AnsweredCall {
  return result.kind === 'answered' && hasText(result.answer);
}

function hasText({ text }: ModelAnswer): boolean {
  return text.trim() !== '';
}

/** Returns why a result is not a valid answer, starting with the agent's name. */
export function reasonOf(result: CallResult): string {
  return result.kind === 'failed' ? `${result.end}: ${result.reason}` : 'The answer is empty.';
}

export function allFailed(answers: readonly CallResult[]): ModeResult {
  const each = answers.map((result) => `${result.agent}: ${reasonOf(result)}`);
  return modeResult(answers, `No agent gave a valid answer. ${each.join(' ')}`);
}

/** Returns one warning per failed agent, for modes whose output needs only some of the answers. */
export function failureWarnings(answers: readonly CallResult[]): readonly string[] {
  return answers.flatMap((result) =>
    isValid(result) ? result.warnings : [`${result.agent} gave no answer: ${reasonOf(result)}`],
  );
}

/** Returns the answers and failures of all agents, in the order of the request. */
export async function all(round: Round): Promise<ModeResult> {
  const answers = await askAll(round);
  const valid = answers.filter(isValid);
  if (valid.length === 0) return allFailed(answers);
  const sections = answers.map(
    (result) => `## ${result.agent}\n\n${isValid(result) ? result.answer.text : `Failed: ${reasonOf(result)}`}`,
  );
  return modeResult(answers, `${valid.length} of ${answers.length} agents answered.`, {
    output: sections.join('\n\n'),
    warnings: failureWarnings(answers),
  });
}

/**
 * Returns the first valid answer. A truncated answer wins only if no answer is complete. The first answer cancels the
 * requests to the other agents, even before it is recorded. Resolves when all requests have ended, so that the
 * cancelled requests are recorded as cancelled.
 */
export async function race({ agents, prompt, ask }: Round): Promise<ModeResult> {
  const over = new AbortController();
  const { signal } = over;
  let first: string | undefined;
  const arrived: AnsweredCall[] = [];
  const answers = await Promise.all(
    agents.map(async (agent): Promise<CallResult> => {
      const onAnswer = (answer: ModelAnswer): void => {
        if (!answer.complete || !hasText(answer)) return;
        first ??= agent;
        over.abort();
      };
      const key = `answer:${agent}`;
      const result = await ask({ key, agent, prompt, replaceable: false, signal, onAnswer });
      if (!isValid(result)) return result;
      onAnswer(result.answer); // a replayed answer has not been reported before
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
  if (result.kind === 'answered')
    return isValid(result) ? `${agent} answered later.` : `${agent} returned an empty answer.`;
  return result.end === 'aborted' ? `${agent} was cancelled.` : `${agent} failed (${result.end}).`;
}

/** Has the synthesizer write one answer that combines all answers and attributes each part to its agent. */
export async function merge(round: Round & { readonly synthesizer: string }): Promise<ModeResult> {
  const answers = await askAll(round);
  const valid = answers.filter(isValid);
  const warnings = failureWarnings(answers);
  const [only] = valid;
  if (only === undefined) return allFailed(answers);
  if (valid.length === 1) {
    const explanation = `Only ${only.agent} answered.`;
    return modeResult(answers, explanation, { output: only.answer.text, winner: only.agent, warnings });
  }
  const { synthesizer: agent, ask } = round;
  const prompt = synthesisPrompt(round.prompt, valid);
  const synthesis = await ask({ key: 'merge', agent, prompt, replaceable: true });
  const names = valid.map((one) => one.agent);
  if (!isValid(synthesis)) {
    const why = synthesis.kind === 'failed' ? synthesis.reason : 'The answer is empty.';
    const explanation = `${agent} could not merge the answers of ${names.join(' and ')}: ${why}`;
    return modeResult(answers, explanation, { warnings, furtherCalls: [synthesis] });
  }
  return modeResult(answers, `${synthesis.agent} merged the answers of ${names.join(' and ')}.`, {
    output: attributed(synthesis.answer.text, names),
    warnings: [...warnings, ...synthesis.warnings],
    furtherCalls: [synthesis],
  });
}

function synthesisPrompt(prompt: string, valid: readonly AnsweredCall[]): string {
  const names = valid.map(({ agent }) => `[${agent}]`).join(', ');
  return [
    `Combine the answers below into one answer to the task. Keep the correct and best parts of each, resolve contradictions, and add nothing that none of them contains. Attribute each part with ${names}, after the sentence or above the code.`,
    fenced('The task', prompt),
    ...valid.map(({ agent, answer }) => fenced(`The answer of ${agent}`, answer.text)),
  ].join('\n\n');
}

/** Adds a note with the agents to which the combined answer attributes no part. */
function attributed(text: string, names: readonly string[]): string {
  const unmarked = names.filter((name) => !text.includes(`[${name}]`));
  if (unmarked.length === 0) return text;
  const whose = unmarked.map((name) => `[${name}]`).join(', ');
  return `${text}\n\nThis answer is also based on the answers of ${whose}, without attribution.`;
}
