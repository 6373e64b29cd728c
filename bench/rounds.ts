/** Alternates rounds of Muster and of a baseline, so that other load on the machine affects both. */
import { type Spread, spread } from './measurement.ts';

export interface Rounds<Figure = number> {
  readonly ours: readonly Figure[];
  readonly baseline: readonly Figure[];
}

export interface Schedule {
  readonly warmUps: number;
  readonly rounds: number;
}

/** Calls both functions alternately. Each call runs one round and returns its figure. */
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

/** Selects one number from the figure of each round. */
export function each<Figure>({ ours, baseline }: Rounds<Figure>, number: (figure: Figure) => number): Rounds {
  return { ours: ours.map(number), baseline: baseline.map(number) };
}

/** Returns the spread of the ratio of Muster to the baseline, which is computed per round. */
export function ratioOf({ ours, baseline }: Rounds): Spread {
  return spread(ours.map((figure, round) => figure / (baseline[round] ?? Number.NaN)));
}
