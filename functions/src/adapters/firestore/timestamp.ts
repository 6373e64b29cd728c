import { Timestamp } from '@google-cloud/firestore';
import { z } from 'zod';
import { StaleWriteError, type Versioned } from '../../domain/store.ts';

/** A Firestore timestamp, read as a date. Milliseconds are all that Muster writes. */
export const timestamp = z.instanceof(Timestamp).transform((value) => value.toDate());

/** An update time as the domain's opaque version. */
export function versionOf({ seconds, nanoseconds }: Timestamp): string {
  return `${seconds}.${nanoseconds}`;
}

export function versioned<Value>(value: Value, updateTime: Timestamp): Versioned<Value> {
  return { value, version: versionOf(updateTime) };
}

/** The precondition that a document is still at a version. */
export function atVersion(version: string): { lastUpdateTime: Timestamp } {
  const [seconds, nanoseconds] = version.split('.');
  if (seconds === undefined || nanoseconds === undefined) throw new StaleWriteError();
  return { lastUpdateTime: new Timestamp(Number(seconds), Number(nanoseconds)) };
}
