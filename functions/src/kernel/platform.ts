/** The clock, chance, hashing, connections, the log and the app, as Node.js, Cloud Logging and Firebase have them. */
import { createHash, createHmac, randomBytes, randomInt, randomUUID, timingSafeEqual } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { type App, getApps, initializeApp } from 'firebase-admin/app';
import { logger } from 'firebase-functions/logger';
import type { Clock, Hashing, Log, Randomness, Timer } from './ports.ts';

export const systemClock: Clock = { now: () => new Date() };

/** The emulators' time, moved by the file's milliseconds. Read each time: `npm run clock` moves every instance. */
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

/** Where the build puts what browsers are sent, from each place that this code is run from: its folder, and the bundle's. */
const ASSET_FOLDERS = ['../../dist/lib/', './', '../'];

/** A file that the build has made for browsers: `signin/page.js`. */
export async function readAsset(name: string): Promise<Buffer> {
  const urls = ASSET_FOLDERS.map((folder) => new URL(`${folder}${name}`, import.meta.url));
  const found = urls.find((url) => existsSync(url));
  if (found === undefined) throw new Error(`The build output does not contain ${name}.`);
  return readFile(found);
}

/** The connection was never made, so that nothing was sent: by the codes that Node.js and its `fetch` give. */
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
  wait: (milliseconds, signal) => setTimeout(milliseconds, undefined, { signal }).catch(() => undefined),
};

/** Source: https://firebase.google.com/docs/functions/writing-and-viewing-logs */
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

/** The Admin SDK's app, of the environment's own credentials: it has no name. Others may be there, which act as callers. */
export function firebaseApp(): App {
  return getApps().find(({ name }) => name === '[DEFAULT]') ?? initializeApp();
}
