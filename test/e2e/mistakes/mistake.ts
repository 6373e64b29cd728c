/** A common mistake of a caller, and what its error must contain. */
import type { MistakesFixture } from './fixture.ts';

export interface Mistake {
  /** Test title that completes "an error explains the mistake of a caller who …". */
  readonly who: string;
  /** Makes the mistake, and returns everything that the caller sees of the error. */
  readonly make: (fixture: MistakesFixture) => Promise<string>;
  readonly happened: RegExp;
  /** Must match the part of the error that states the field, argument, header, address or position. */
  readonly where: RegExp;
  /** Must match the part of the error that helps: a name, an example or a call. */
  readonly next: RegExp;
}

/** Returns descriptions of the required parts that the error lacks. */
export function missing({ happened, where, next }: Mistake, reported: string): readonly string[] {
  return [
    ...(happened.test(reported) ? [] : [`what happened (${happened})`]),
    ...(where.test(reported) ? [] : [`where (${where})`]),
    ...(next.test(reported) ? [] : [`what to do (${next})`]),
  ];
}
