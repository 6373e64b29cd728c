/** Whether this is the nightly run, `npm run test:nightly`, which tests for longer and in more combinations. */
export const IS_NIGHTLY = process.env['MUSTER_NIGHTLY'] === '1';

/** Returns `day` in the default run, and `night` in the nightly run. */
export function defaultOrNightly<Amount>(day: Amount, { night: nightly }: { readonly night: Amount }): Amount {
  return IS_NIGHTLY ? nightly : day;
}
