/**
 * Judging answers blindly: a judge sees them under letters, in an order of its own, without their agents' names.
 */
import { fenced } from '../fence.ts';
import { type Ask, type Ballot, type CallResult, isValid } from './ask.ts';
import { type Chance, shuffled } from './shuffle.ts';

export interface Contribution {
  readonly agent: string;
  readonly output: string;
}

export interface Judging {
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

export interface Judged {
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
