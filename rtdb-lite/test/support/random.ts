/** Generates reproducible random values. */
type Primitive = string | number | boolean;

const primitives: Primitive[] = [1, 2, -3.5, 0, 1e21, 'a', 'b', 'é😀', '', true, false, 12345678901, 0.1];
const keys = ['a', 'b', 'c', '0', '1', '2', '10', '007', '-5', 'Z', 'é', '9999999999'];

export class Random {
  #seed: number;

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** Returns an integer from 0 to `limit - 1`. */
  below(limit: number): number {
    this.#seed = (Math.imul(this.#seed, 1103515245) + 12345) & 0x7fffffff;
    return (this.#seed >> 8) % limit;
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }

  primitive(): Primitive {
    return this.pick(primitives);
  }

  value(depth: number, withPriorities: boolean): unknown {
    const hasPriority = withPriorities && this.below(4) === 0;
    const priority = hasPriority ? { '.priority': this.pick([1, 2.5, 'x', 'y']) } : {};
    if (depth === 0 || this.below(3) === 0)
      return hasPriority ? { '.value': this.primitive(), ...priority } : this.primitive();
    const children = Array.from({ length: 1 + this.below(3) }, () => [
      this.pick(keys),
      this.value(depth - 1, withPriorities),
    ]);
    return { ...priority, ...Object.fromEntries(children) };
  }
}
