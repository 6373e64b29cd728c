/**
 * Judging answers blindly: a judge sees them under letters, in an order of its own, without the names of their
 * agents. Source: docs/semantics.md#orchestration.
 */
import type { Hashing, Randomness } from '../../../../kernel/ports.ts';
import { fenced, type StepResult } from '../workflows/scope.ts';
import { type Ask, type Ballot, isValid, type ModeResult, modeResult } from './ask.ts';

interface Judging {
  readonly judges: readonly string[];
  /** Whether another may judge in a judge's place. */
  readonly replaceable: boolean;
  /** What the answers answer. */
  readonly prompt: string;
  readonly contributions: readonly StepResult[];
  readonly ask: Ask;
  readonly chance: Chance;
}

/** Letters are enough for the most agents that a step may have. */
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** Has every judge rank the answers. */
export async function judge({ judges, replaceable, prompt, contributions, ask, chance }: Judging) {
  const asked = judges.map((name) => ({
    judge: name,
    shown: shuffled(contributions, chance).map((one, index) => ({ ...one, letter: LETTERS.charAt(index) })),
  }));
  const calls = await Promise.all(
    asked.map(({ judge: agent, shown }) =>
      ask({ key: `judge:${agent}`, agent, prompt: judgesPrompt(prompt, shown), replaceable }),
    ),
  );
  const ballots = asked.map(({ judge: name, shown }, index): Ballot => {
    const result = calls[index];
    const letters = result && isValid(result) ? rankingIn(result.answer.text, shown.length) : undefined;
    const ranking = letters?.flatMap((letter) => shown.find((one) => one.letter === letter)?.agent ?? []);
    return { judge: name, shown: shown.map(({ letter, agent }) => ({ letter, agent })), ranking };
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
 * Numbers that cannot be foreseen without the seed, and are the same for the same seed: an instance that takes a run
 * over shows a judge the same answers in the same order.
 */
export function seededChance(hashing: Hashing, seed: string): Chance {
  let count = 0;
  return {
    integer: (below) => Number.parseInt(hashing.sha256(`${seed} ${count++}`).slice(0, 12), 16) % below,
  };
}

/** Has a judge pick the best of a step's results, which becomes the output word for word. */
export async function pick({
  judge: name,
  ...judging
}: Omit<Judging, 'judges' | 'replaceable'> & { readonly judge: string }): Promise<ModeResult> {
  const { contributions } = judging;
  const [only] = contributions;
  if (only === undefined) return modeResult([], 'There was nothing to pick from.');
  if (contributions.length === 1)
    return modeResult([], `${only.agent} was the only one with an answer.`, chosen(only));
  const { ballots, calls } = await judge({ ...judging, judges: [name], replaceable: true });
  const best = contributions.find(({ agent }) => agent === ballots[0]?.ranking?.[0]);
  const result = calls[0];
  const by = result?.agent ?? name;
  const further = { furtherCalls: calls, ballots };
  if (best !== undefined) {
    const explanation = `${by} ranked the answers without knowing whose they were: ${best.agent} is best.`;
    const warnings = result?.kind === 'answered' ? result.warnings : [];
    return modeResult([], explanation, { ...chosen(best), ...further, warnings });
  }
  if (result === undefined || !isValid(result))
    return modeResult([], `${name} could not judge the answers.`, further);
  const [drawn = only] = shuffled(contributions, judging.chance);
  return modeResult([], `${by} gave no ranking; ${drawn.agent} was drawn by lot.`, {
    ...chosen(drawn),
    ...further,
    warnings: [`${by} gave no ranking of the answers, so one was drawn by lot.`],
  });
}

function chosen({ agent, output }: StepResult): Pick<ModeResult, 'output'> & { readonly winner: string } {
  return { output, winner: agent };
}
