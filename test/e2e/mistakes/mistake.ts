/** A common mistake of a caller, and what its error must contain. */
import type { MistakesFixture } from './fixture.ts';

interface Explanation {
  readonly happened: RegExp;
  /** Must match the part of the error that locates the mistake: a field, argument, header, address or position. */
  readonly where: RegExp;
  /** Must match the part of the error that states what to do: a valid name, an example or a call. */
  readonly next: RegExp;
}

export interface Mistake extends Explanation {
  /** Test title that completes "an error explains the mistake of a caller who …". */
  readonly who: string;
  /** Makes the mistake, and returns the error as the caller sees it. */
  readonly make: (fixture: MistakesFixture) => Promise<string>;
}

export const mistake = (who: string, make: Mistake['make'], error: Explanation): Mistake => ({ who, make, ...error });

/** Returns a description of each required part that is missing in the error. */
export function missing({ happened, where, next }: Mistake, reported: string): readonly string[] {
  return [
    ...(happened.test(reported) ? [] : [`what happened (${happened})`]),
    ...(where.test(reported) ? [] : [`where (${where})`]),
    ...(next.test(reported) ? [] : [`what to do (${next})`]),
  ];
}
