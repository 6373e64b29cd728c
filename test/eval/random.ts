/** Random numbers that a seed determines, so that an evaluation prints the same figures on every machine. */

export type Chance = () => number;

/** Returns a generator of numbers from 0 to 1, exclusive. Source: mulberry32, https://github.com/bryc/code. */
export function seeded(seed: number): Chance {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns one of the items; undefined for an empty list. */
export function pick<Item>(chance: Chance, items: readonly Item[]): Item | undefined {
  return items[Math.floor(chance() * items.length)];
}
