/** What documents have in common: timestamps, versions, and pages of what is due. */
import { FieldPath, type Query, type QueryDocumentSnapshot, Timestamp } from '@google-cloud/firestore';
import { z } from 'zod';
import { StaleWriteError, type Versioned } from '../commit.ts';
import type { Batch, Position } from '../paging.ts';

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

// What a sweep reads of a collection: what is due, longest ago first.

export interface DueQuery {
  readonly query: Query;
  /** The field that says when something is due. */
  readonly time: string;
}

export interface DuePage {
  readonly now: Date;
  readonly limit: number;
  readonly after: Position | undefined;
}

/** @param fromSnapshot gives nothing for one that cannot be read: it must not keep the sweep from the others */
export async function readDue<Item>(
  { query, time }: DueQuery,
  { now, limit, after }: DuePage,
  fromSnapshot: (snapshot: QueryDocumentSnapshot) => readonly Item[],
): Promise<Batch<Item>> {
  const due = query.where(time, '<=', now).orderBy(time).orderBy(FieldPath.documentId()).limit(limit);
  const { docs } = await (after === undefined ? due : due.startAfter(after.at, after.id)).get();
  // What a range of times finds has a time.
  const placeOf = (snapshot: QueryDocumentSnapshot): Position => ({
    at: timestamp.parse(snapshot.get(time)),
    id: snapshot.id,
  });
  const found = docs.flatMap((snapshot) =>
    fromSnapshot(snapshot).map((item) => ({ item, place: placeOf(snapshot) })),
  );
  const last = docs.at(-1);
  return { found, ...(last && docs.length === limit && { next: placeOf(last) }) };
}

/** The latest of what is told, for a reader who may be slower. */
export class LatestValue<Value> {
  private value: Value | undefined;
  private error: unknown;
  private isClosed = false;
  private wake: () => void = () => undefined;

  tell(value: Value): void {
    this.value = value;
    this.wake();
  }

  readonly fail = (error: unknown): void => {
    this.error = error;
    this.close();
  };

  close(): void {
    this.isClosed = true;
    this.wake();
  }

  async *values(): AsyncGenerator<Value, void, undefined> {
    for (;;) {
      const { value } = this;
      this.value = undefined;
      if (value !== undefined) {
        yield value;
        continue;
      }
      if (this.error !== undefined) throw this.error;
      if (this.isClosed) return;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }
}
