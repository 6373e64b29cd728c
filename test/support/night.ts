/** The nightly run, `npm run test:nightly`, repeats tests for longer and in every combination. */
export const IS_NIGHT = process.env['MUSTER_NIGHTLY'] === '1';

/** Returns the amount of work for the default or the nightly run. */
export function byDay<Amount>(day: Amount, { night }: { readonly night: Amount }): Amount {
  return IS_NIGHT ? night : day;
}
