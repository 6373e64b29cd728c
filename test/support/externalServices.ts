import { type ExternalServices, externalServices } from '../../functions/src/composition/externalServices.ts';
import { systemClock } from '../../functions/src/kernel/platform.ts';

/** External services that a test replaces by its own. */
export type Replaced = { readonly [Name in keyof ExternalServices]?: ExternalServices[Name] | undefined };

/** Returns the external services for a test. Rate limits and push notifications are off unless the test sets them. */
export function externalServicesOf(replaced: Replaced = {}): ExternalServices {
  const given = Object.fromEntries(Object.entries(replaced).filter(([, value]) => value !== undefined));
  return { ...externalServices(), clock: systemClock, rateLimit: undefined, push: undefined, ...given };
}
