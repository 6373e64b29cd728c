import { type ExternalServices, externalServices } from '../../functions/src/composition/externalServices.ts';
import { systemClock } from '../../functions/src/kernel/platform.ts';

/** Replacements for parts of the environment. */
export type Replaced = { readonly [Name in keyof ExternalServices]?: ExternalServices[Name] | undefined };

/** Returns a test's environment; without rate limits and push notifications unless the test sets them. */
export function externalServicesOf(replaced: Replaced = {}): ExternalServices {
  const given = Object.fromEntries(Object.entries(replaced).filter(([, value]) => value !== undefined));
  return { ...externalServices(), clock: systemClock, rateLimit: undefined, push: undefined, ...given };
}
