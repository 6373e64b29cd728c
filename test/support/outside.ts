import { type Outside, outside } from '../../functions/src/composition/outside.ts';
import { systemClock } from '../../functions/src/kernel/platform.ts';

/** Replacements for parts of the environment. */
export type Replaced = { readonly [Name in keyof Outside]?: Outside[Name] | undefined };

/** Returns a test's environment; without rate limits and push notifications unless the test sets them. */
export function outsideOf(replaced: Replaced = {}): Outside {
  const given = Object.fromEntries(Object.entries(replaced).filter(([, value]) => value !== undefined));
  return { ...outside(), clock: systemClock, rateLimit: undefined, push: undefined, ...given };
}
