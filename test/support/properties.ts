/**
 * Property tests use a fixed seed, so that a failure is caused by a change, not by chance. `MUSTER_SEED=$RANDOM npm
 * test` uses another seed, which a failing test prints.
 */
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env['MUSTER_SEED'] || 20260728) });

type Values = [unknown, ...unknown[]];

/** Nothing or a boolean. */
type Outcome = ReturnType<Parameters<typeof fc.property<[unknown]>>[1]>;

/** Arbitraries, followed by a predicate that must neither throw nor return false for any of their values. */
type Property<Ts extends Values, Returned> = [
  ...arbitraries: { [Place in keyof Ts]: fc.Arbitrary<Ts[Place]> },
  predicate: (...values: Ts) => Returned,
];

/** Asserts a property with fast-check's default number of runs. */
export function forAll<Ts extends Values>(...property: Property<Ts, Outcome>): void {
  fc.assert(fc.property(...property));
}

/** Asserts a property whose predicate is asynchronous, with fast-check's default number of runs. */
export function forAllAsync<Ts extends Values>(...property: Property<Ts, Promise<Outcome>>): Promise<void> {
  return fc.assert(fc.asyncProperty(...property));
}

/** Returns the same functions for another number of runs. */
export const inRuns = (numRuns: number) => ({
  forAll: <Ts extends Values>(...property: Property<Ts, Outcome>) => {
    fc.assert(fc.property(...property), { numRuns });
  },
  forAllAsync: <Ts extends Values>(...property: Property<Ts, Promise<Outcome>>) =>
    fc.assert(fc.asyncProperty(...property), { numRuns }),
});
