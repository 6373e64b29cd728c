/** Randomness and digests of node:crypto. */
import { createHash, createHmac, randomBytes, randomInt, randomUUID, timingSafeEqual } from 'node:crypto';
import type { Hashing, Randomness } from '../../domain/ports.ts';

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

export const systemRandomness: Randomness = {
  uuid: () => randomUUID(),
  letters: (length) =>
    Array.from(randomBytes(length), (byte) => BASE32.charAt(byte % BASE32.length)).join(''),
  secret: (bytes) => randomBytes(bytes).toString('base64url'),
  integer: (below) => randomInt(below),
};

export const systemHashing: Hashing = {
  sha256: (text) => createHash('sha256').update(text).digest('hex'),
  hmac: (key, text) => createHmac('sha256', key).update(text).digest('base64url'),
  equal: (left, right) =>
    left.length === right.length && timingSafeEqual(Buffer.from(left), Buffer.from(right)),
};
