/** A judge picks the best of a step's results, which becomes the output word for word. */
import { isValid, type ModeResult } from './ask.ts';
import { type Contribution, type Judging, judge } from './ranking.ts';
import { shuffled } from './shuffle.ts';

export interface Pick extends Omit<Judging, 'judges' | 'replaceable'> {
  readonly judge: string;
}

export async function pick({ judge: name, ...judging }: Pick): Promise<ModeResult> {
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
