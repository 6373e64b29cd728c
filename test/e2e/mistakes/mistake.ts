/** A common mistake, and the required content of its error. */
import type { MistakesFixture } from './fixture.ts';

export interface Mistake {
  /** Completes "an error explains the mistake of a caller who …". */
  readonly who: string;
  /** Makes the mistake, and returns everything that the caller sees. */
  readonly make: (fixture: MistakesFixture) => Promise<string>;
  readonly happened: RegExp;
  /** The field, argument, header, address or position. */
  readonly where: RegExp;
  /** A name, an example or a call that helps. */
  readonly next: RegExp;
}

/** Returns the required parts that the error lacks. */
export function missing({ happened, where, next }: Mistake, told: string): readonly string[] {
  return [
    ...(happened.test(told) ? [] : [`what happened (${happened})`]),
    ...(where.test(told) ? [] : [`where (${where})`]),
    ...(next.test(told) ? [] : [`what to do (${next})`]),
  ];
}
