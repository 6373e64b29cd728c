/** Clock, randomness, hashing, connections and log, as implemented with Node.js and Google Cloud. */
import { createHmac, hash, randomBytes, randomInt, randomUUID, timingSafeEqual } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { logger } from 'firebase-functions/logger';
import type { Clock, Hashing, Log, Randomness, Timer } from './ports.ts';
import { currentTraces, traceFields } from './trace.ts';

export const systemClock: Clock = { now: () => new Date() };

/** Returns a clock for the emulators. A file that all instances read states how many milliseconds it is ahead. */
export function simulatedClock(file: string): Clock {
  return { now: () => new Date(Date.now() + millisecondsIn(file)) };
}

function millisecondsIn(file: string): number {
  try {
    const milliseconds = Number(readFileSync(file, 'utf8'));
    return Number.isSafeInteger(milliseconds) ? milliseconds : 0;
  } catch {
    return 0; // The file is missing, so the clock was never moved.
  }
}

/** Folders that may contain built browser files, relative to this source file and to the bundle. */
const ASSET_FOLDERS = ['../../dist/lib/', './', '../'];

/** Returns the content of a built browser file: `signin/page.js`. */
export async function readAsset(name: string): Promise<Buffer> {
  const urls = ASSET_FOLDERS.map((folder) => new URL(`${folder}${name}`, import.meta.url));
  const found = urls.find((url) => existsSync(url));
  if (found === undefined) throw new Error(`The build output does not contain ${name}.`);
  return readFile(found);
}

/** Error codes of Node.js and its `fetch` for connections that were never established. */
const UNSENT =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_INVALID_URL|.*CERT.*)$/;

/** Returns whether a request certainly failed before anything was sent. */
export function isUnsent(error: unknown): boolean {
  return connectionCodes(error).some((code) => UNSENT.test(code));
}

/** Returns the error codes of an error and of its causes, outermost first. */
export function connectionCodes(error: unknown): readonly string[] {
  const codes: string[] = [];
  for (let one = error; one instanceof Error && codes.length < 10; one = one.cause) {
    if ('code' in one && typeof one.code === 'string') codes.push(one.code);
    if (one instanceof AggregateError) codes.push(...one.errors.flatMap(connectionCodes));
  }
  return codes;
}

/** Returns whether credentials may be sent to a URL: it uses TLS, or it is on the local machine. */
export function isSafeAddress(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const local = url?.protocol === 'http:' && /^(127\.0\.0\.1|localhost)$/.test(url.hostname);
  return url?.protocol === 'https:' || local;
}

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

export const systemRandomness: Randomness = {
  uuid: () => randomUUID(),
  letters: (length) => Array.from(randomBytes(length), (byte) => BASE32.charAt(byte % BASE32.length)).join(''),
  secret: (bytes) => randomBytes(bytes).toString('base64url'),
  integer: (below) => randomInt(below),
};

export const systemHashing: Hashing = {
  sha256: (text) => hash('sha256', text),
  hmac: (key, text) => createHmac('sha256', key).update(text).digest('base64url'),
  equal: (left, right) => left.length === right.length && timingSafeEqual(Buffer.from(left), Buffer.from(right)),
};

export const systemTimer: Timer = {
  wait: (milliseconds, signal) => setTimeout(milliseconds, undefined, { signal }).catch(() => undefined),
};

/** Log fields that Cloud Logging reads: https://firebase.google.com/docs/functions/writing-and-viewing-logs */
export const cloudLog: Log = {
  info: (event, fields) => logger.info(event, printable(fields)),
  warn: (event, fields) => logger.warn(event, printable(fields)),
  error: (event, fields) => logger.error(event, printable(fields)),
};

/** Properties of an Error, which JSON would omit, become fields. */
function printable(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { error } = fields;
  const described = error instanceof Error && { error: error.stack ?? error.message, cause: error.cause };
  const traces = currentTraces.getStore();
  return { ...fields, ...described, ...(traces && traceFields(traces, process.env['GCLOUD_PROJECT'])) };
}
