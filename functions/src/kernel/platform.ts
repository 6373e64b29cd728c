/** The clock, chance, hashing, connections and the log, as Node.js and Cloud Logging have them. */
import { createHash, createHmac, randomBytes, randomInt, randomUUID, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { logger } from 'firebase-functions/logger';
import type { Clock, Hashing, Log, Randomness, Timer } from './ports.ts';

export const systemClock: Clock = { now: () => new Date() };

/**
 * The emulators' time: the machine's, moved by as many milliseconds as the file says, where there is one. It is read
 * each time: `npm run clock` moves the time of every instance at once.
 */
export function movableClock(file: string): Clock {
  return { now: () => new Date(Date.now() + millisecondsIn(file)) };
}

function millisecondsIn(file: string): number {
  try {
    const milliseconds = Number(readFileSync(file, 'utf8'));
    return Number.isSafeInteger(milliseconds) ? milliseconds : 0;
  } catch {
    return 0; // nobody has moved it
  }
}

/** What befell a connection, by the codes that Node.js and its `fetch` give. */

/** The connection was never made, so that nothing was sent. */
const UNSENT =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_INVALID_URL|.*CERT.*)$/;

/** Whether nothing was sent, for certain. */
export function isUnsent(error: unknown): boolean {
  return connectionCodes(error).some((code) => UNSENT.test(code));
}

/** The error's codes and those of its causes, the outermost first. */
export function connectionCodes(error: unknown): readonly string[] {
  const codes: string[] = [];
  for (let one = error; one instanceof Error && codes.length < 10; one = one.cause) {
    if ('code' in one && typeof one.code === 'string') codes.push(one.code);
    if (one instanceof AggregateError) codes.push(...one.errors.flatMap(connectionCodes));
  }
  return codes;
}

/** Whether a credential may be sent there: over TLS, or on this machine. */
export function isSafeAddress(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const local = url?.protocol === 'http:' && /^(127\.0\.0\.1|localhost)$/.test(url.hostname);
  return url?.protocol === 'https:' || local;
}

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

export const systemTimer: Timer = {
  wait(milliseconds, signal) {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timeout);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timeout = setTimeout(done, milliseconds);
      signal.addEventListener('abort', done);
    });
  },
};

// Structured Cloud Logging entries. Source:
// https://firebase.google.com/docs/functions/writing-and-viewing-logs

export const cloudLog: Log = {
  info: (event, fields) => logger.info(event, printable(fields)),
  warn: (event, fields) => logger.warn(event, printable(fields)),
  error: (event, fields) => logger.error(event, printable(fields)),
};

/** Errors have no fields of their own that JSON would show. */
function printable(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { error, ...rest } = fields;
  return error instanceof Error
    ? { ...rest, error: error.stack ?? error.message, cause: error.cause }
    : { ...fields };
}
