/** Initials in place of a picture. The console and the sign-in page share this file. */

/** Returns the initials of the first two words of a name, or its first two letters. */
export function initialsOf(name: string): string {
  const [first = '', second = ''] = name.match(/[\p{L}\p{N}]+/gu) ?? [];
  const [one = '', two = ''] = first;
  return one + (second === '' ? two : ([...second][0] ?? ''));
}
