/** The model whose answer a run chose among several. */
import type { RunResponse } from './response.ts';

export interface Winner {
  readonly agent: string;
  /** Number of answers among which it was chosen. */
  readonly of: number;
}

/** The winner is the one whose answer is the result of the run. Undefined if no step compared answers. */
export function winnerOf({ steps, result }: RunResponse): Winner | undefined {
  const compared = steps.findLast(({ results }) => results.length > 1);
  const last = compared ?? steps.findLast(({ results }) => results.length > 0);
  if (last === undefined) return undefined;
  const answers = last.results.filter(({ output }) => output !== undefined);
  const chosen = answers.find(({ output }) => output === result) ?? (answers.length === 1 ? answers[0] : undefined);
  return chosen && { agent: chosen.agent, of: last.results.length };
}
