import type { Hashing, Randomness } from '../../ports.ts';

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
