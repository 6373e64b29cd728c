/** One answer out of all, which says what came from whom. Source: docs/semantics.md#orchestration. */
import type { Hashing, Randomness } from '../../../../kernel/ports.ts';
import type { AnsweredCall, CallResult } from '../calls/calling.ts';
import { fenced } from '../workflows/scope.ts';
import {
  type Ask,
  allFailed,
  askAll,
  type Ballot,
  failureWarnings,
  isValid,
  type ModeResult,
  type Round,
} from './ask.ts';

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

// Judging answers blindly: a judge sees them under letters, in an order of its own, without their agents'
// names.

interface Contribution {
  readonly agent: string;
  readonly output: string;
}

interface Judging {
  readonly judges: readonly string[];
  /** Whether another may judge in a judge's place. */
  readonly replaceable: boolean;
  /** What the answers answer. */
  readonly prompt: string;
  readonly contributions: readonly Contribution[];
  readonly ask: Ask;
  readonly signal: AbortSignal;
  readonly chance: Chance;
}

interface Judged {
  readonly ballots: readonly Ballot[];
  readonly calls: readonly CallResult[];
}

/** Letters are enough for the most agents that a step may have. */
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

export async function judge(judging: Judging): Promise<Judged> {
  const asked = judging.judges.map((name) => ({
    judge: name,
    shown: shuffled(judging.contributions, judging.chance).map(({ agent, output }, index) => ({
      letter: LETTERS.charAt(index),
      agent,
      output,
    })),
  }));
  const calls = await Promise.all(
    asked.map(({ judge: agent, shown }) =>
      judging.ask({
        key: `judge:${agent}`,
        agent,
        prompt: judgesPrompt(judging.prompt, shown),
        replaceable: judging.replaceable,
        signal: judging.signal,
      }),
    ),
  );
  const ballots = asked.map(({ judge: name, shown }, index): Ballot => {
    const result = calls[index];
    const letters = result && isValid(result) ? rankingIn(result.answer.text, shown.length) : undefined;
    return {
      judge: name,
      shown: shown.map(({ letter, agent }) => ({ letter, agent })),
      ranking: letters?.flatMap((letter) => shown.find((one) => one.letter === letter)?.agent ?? []),
    };
  });
  return { ballots, calls };
}

function judgesPrompt(
  prompt: string,
  shown: readonly { readonly letter: string; readonly output: string }[],
): string {
  const answers = shown.map(({ letter, output }) => fenced(`Answer ${letter}`, output));
  const letters = shown.map(({ letter }) => letter);
  return [
    'Rank these answers to one task by how correct, complete and useful they are. Whose they are and in which order they stand says nothing about them.',
    fenced('The task', prompt),
    ...answers,
    `Give your reasons in a few sentences. End with one line that has all the letters, best first: ${[...letters].reverse().join(' > ')}, for example.`,
  ].join('\n\n');
}

/** The last line that ranks every letter once; undefined where there is none. */
export function rankingIn(text: string, count: number): readonly string[] | undefined {
  const expected = LETTERS.slice(0, count);
  for (const line of text.split('\n').reverse()) {
    const letters = line.replace(/[*_`.\s]/g, '').split('>');
    if (letters.length === count && [...letters].sort().join('') === expected) return letters;
  }
  return undefined;
}

export type Chance = Pick<Randomness, 'integer'>;

/** Fisher and Yates. */
export function shuffled<Item>(items: readonly Item[], chance: Chance): Item[] {
  const left = [...items];
  return items.flatMap(() => left.splice(chance.integer(left.length), 1));
}

/**
 * Numbers that nobody can foresee without the seed, and that come again with it: a run that is taken up by another
 * instance shows a judge the same answers in the same order.
 */
export function seededChance(hashing: Hashing, seed: string): Chance {
  let count = 0;
  return {
    integer: (below) => Number.parseInt(hashing.sha256(`${seed} ${count++}`).slice(0, 12), 16) % below,
  };
}

// A judge picks the best of a step's results, which becomes the output word for word.

interface Picked extends Omit<Judging, 'judges' | 'replaceable'> {
  readonly judge: string;
}

export async function pick({ judge: name, ...judging }: Picked): Promise<ModeResult> {
  const { contributions } = judging;
  const [only] = contributions;
  if (only === undefined) return decided(undefined, 'There was nothing to pick from.');
  if (contributions.length === 1) return decided(only, `${only.agent} was the only one with an answer.`);
  const { ballots, calls } = await judge({ ...judging, judges: [name], replaceable: true });
  const best = contributions.find(({ agent }) => agent === ballots[0]?.ranking?.[0]);
  const judges = calls[0];
  const by = judges?.agent ?? name;
  const further = { furtherCalls: calls, ballots };
  if (best !== undefined) {
    const warnings = judges?.kind === 'answered' ? judges.warnings : [];
    return decided(best, `${by} ranked the answers without knowing whose they were: ${best.agent} is best.`, {
      ...further,
      warnings,
    });
  }
  if (judges === undefined || !isValid(judges)) {
    return decided(undefined, `${name} could not judge the answers.`, further);
  }
  const [drawn] = shuffled(contributions, judging.chance);
  return decided(drawn, `${by} gave no ranking; ${drawn?.agent} was drawn by lot.`, {
    ...further,
    warnings: [`${by} gave no ranking of the answers, so one was drawn by lot.`],
  });
}

function decided(
  best: Contribution | undefined,
  explanation: string,
  rest: Partial<ModeResult> = {},
): ModeResult {
  return {
    answers: [],
    output: best?.output,
    ...(best && { winner: best.agent }),
    explanation,
    warnings: [],
    furtherCalls: [],
    ...rest,
  };
}
