/** Alternating rounds of ours and the baseline, so that disturbances affect both. */
import { type Spread, spread } from './measurement.ts';

export interface Rounds<Figure = number> {
  readonly ours: readonly Figure[];
  readonly baseline: readonly Figure[];
}

export interface Schedule {
  readonly warmUps: number;
  readonly rounds: number;
}

/** Alternates between both functions, each of which returns the figure of one round. */
export async function alternate<Figure>(
  { warmUps, rounds }: Schedule,
  ours: (round: number) => Promise<Figure>,
  baseline: (round: number) => Promise<Figure>,
): Promise<Rounds<Figure>> {
  const figures: { ours: Figure[]; baseline: Figure[] } = { ours: [], baseline: [] };
  for (let round = -warmUps; round < rounds; round++) {
    const pair = { baseline: await baseline(round), ours: await ours(round) };
    if (round < 0) continue;
    figures.ours.push(pair.ours);
    figures.baseline.push(pair.baseline);
  }
  return figures;
}

/** Returns one number of each round's figure. */
export function each<Figure>({ ours, baseline }: Rounds<Figure>, number: (figure: Figure) => number): Rounds {
  return { ours: ours.map(number), baseline: baseline.map(number) };
}

/** Returns the ratio of ours to the baseline, round by round. */
export function ratioOf({ ours, baseline }: Rounds): Spread {
  return spread(ours.map((figure, round) => figure / (baseline[round] ?? Number.NaN)));
}
