/** By night everything is repeated for longer, and in every combination: `npm run test:nightly`. */
export const IS_NIGHT = process.env['MUSTER_NIGHTLY'] === '1';

/** How much is tried by day and by night. */
export function byDay<Amount>(day: Amount, { night }: { readonly night: Amount }): Amount {
  return IS_NIGHT ? night : day;
}
