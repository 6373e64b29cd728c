/** Structured Cloud Logging entries. Source: https://firebase.google.com/docs/functions/writing-and-viewing-logs */
import { logger } from 'firebase-functions/logger';
import type { Log } from './domain/ports.ts';

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
