import { randomBytes } from 'node:crypto';

const characters = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz';
let lastTime = 0;
let random: number[] = [];

/** Returns a push id as the SDKs do. Later ids sort after earlier ids, even within a millisecond. */
export function pushId(now = Date.now()): string {
  random = now === lastTime ? successor(random) : Array.from(randomBytes(12), (byte) => byte & 63);
  lastTime = now;
  let time = '';
  for (let index = 0, rest = now; index < 8; index++, rest = Math.floor(rest / 64))
    time = characters.charAt(rest % 64) + time;
  return time + random.map((digit) => characters.charAt(digit)).join('');
}

/** Adds 1 to a number that is given by its base-64 digits. */
function successor(digits: readonly number[]): number[] {
  const next = [...digits];
  for (let index = next.length - 1; index >= 0; index--) {
    const digit = next[index] ?? 0;
    next[index] = (digit + 1) % 64;
    if (digit !== 63) break;
  }
  return next;
}
