/** A typical mistake, and what its answer must tell whoever made it. */
import type { Scene } from './scene.ts';

export interface Mistake {
  /** Completes "told to someone who …". */
  readonly who: string;
  /** Makes it, and returns all that its maker gets to see. */
  readonly make: (scene: Scene) => Promise<string>;
  readonly happened: RegExp;
  /** The field, argument, header, address or position. */
  readonly where: RegExp;
  /** A name, an example or a call that helps. */
  readonly next: RegExp;
}

/** What the answer does not tell of: nothing, where it is good. */
export function missing({ happened, where, next }: Mistake, told: string): readonly string[] {
  return [
    ...(happened.test(told) ? [] : [`what happened (${happened})`]),
    ...(where.test(told) ? [] : [`where (${where})`]),
    ...(next.test(told) ? [] : [`what to do (${next})`]),
  ];
}
