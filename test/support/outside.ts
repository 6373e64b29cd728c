import { type Outside, outside } from '../../functions/src/composition/outside.ts';
import { systemClock } from '../../functions/src/kernel/platform.ts';

/** What a test has in place of the environment's. */
export type Replaced = { readonly [Name in keyof Outside]?: Outside[Name] | undefined };

/** Returns what is outside of a test's process; nobody is limited and no device is told, unless the test says so. */
export function outsideOf(replaced: Replaced = {}): Outside {
  const given = Object.fromEntries(Object.entries(replaced).filter(([, value]) => value !== undefined));
  return { ...outside(), clock: systemClock, rateLimit: undefined, push: undefined, ...given };
}
