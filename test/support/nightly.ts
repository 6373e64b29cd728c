/** The nightly run, `npm run test:nightly`, repeats tests for longer and in every combination. */
export const IS_NIGHTLY = process.env['MUSTER_NIGHTLY'] === '1';

/** Returns the amount of work for the default or the nightly run. */
export function defaultOrNightly<Amount>(day: Amount, { night: nightly }: { readonly night: Amount }): Amount {
  return IS_NIGHTLY ? nightly : day;
}
