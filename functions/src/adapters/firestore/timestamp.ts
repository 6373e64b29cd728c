import { Timestamp } from '@google-cloud/firestore';
import { z } from 'zod';
import { StaleWriteError, type Versioned } from '../../domain/store.ts';

/** A Firestore timestamp, read as a date. Milliseconds are all that Muster writes. */
export const timestamp = z.instanceof(Timestamp).transform((value) => value.toDate());

/** The ids of the latest commits that changed a document, the last one first. Not every document holds them. */
export const LATEST_COMMITS = 'latest_commits';

const commitIds = z.array(z.string()).catch([]);

/** An update time as the domain's opaque version. */
export function versionOf({ seconds, nanoseconds }: Timestamp): string {
  return `${seconds}.${nanoseconds}`;
}

/** @param latestCommits what the document has there, if it has */
export function versioned<Value>(
  value: Value,
  updateTime: Timestamp,
  latestCommits?: unknown,
): Versioned<Value> {
  return { value, version: [versionOf(updateTime), ...commitIds.parse(latestCommits)].join('/') };
}

/** Which commits had changed a document when it was read at this version. */
export function commitsAt(version: string): readonly string[] {
  return version.split('/').slice(1);
}

/** The precondition that a document is still at a version. */
export function atVersion(version: string): { lastUpdateTime: Timestamp } {
  const [time = ''] = version.split('/');
  const [seconds, nanoseconds] = time.split('.');
  if (seconds === undefined || nanoseconds === undefined) throw new StaleWriteError();
  return { lastUpdateTime: new Timestamp(Number(seconds), Number(nanoseconds)) };
}
