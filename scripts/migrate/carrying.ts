/** What every part of the migration works with, and how it compares what is stored with what should be. */
import { type BulkWriter, type DocumentReference, type Firestore, Timestamp } from '@google-cloud/firestore';
import type { Database } from 'firebase-admin/database';
import type { compose } from '../../functions/src/app.ts';
import { NOT_FOUND, statusCode } from '../../functions/src/kernel/firestore/provenCommit.ts';
import { canonicalJson } from '../../functions/src/kernel/json.ts';

type Composition = ReturnType<typeof compose>;

export interface Carrying {
  readonly database: Firestore;
  readonly realtime: () => Promise<Database>;
  readonly ports: Composition['ports'];
  readonly services: Pick<Composition['services'], 'mirrorQueuedTask' | 'mirrorPerson' | 'mirrorWorkspaces'>;
  /** Tells the operator something. */
  readonly say: (sentence: string) => void;
}

/** How many there were, and how many of them were changed. */
export class Count {
  private found = 0;
  private changed = 0;

  add(isChanged: boolean): void {
    this.found += 1;
    if (isChanged) this.changed += 1;
  }

  toString(): string {
    return `${this.found} found, ${this.changed} changed`;
  }
}

/** Whether a document has all of these fields already. */
export function hasFields(stored: object, fields: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(fields).every(([name, value]) => sameForm(Reflect.get(stored, name), value));
}

function sameForm(one: unknown, other: unknown): boolean {
  return canonicalJson(formOf(one)) === canonicalJson(formOf(other));
}

/** Times as this code writes them, to the millisecond; what is not there is null. */
function formOf(value: unknown): unknown {
  if (value instanceof Timestamp) return { time: value.toMillis() };
  if (value instanceof Date) return { time: value.getTime() };
  if (Array.isArray(value)) return value.map(formOf);
  if (typeof value !== 'object' || value === null) return value === undefined ? { missing: true } : value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, formOf(field)]));
}

/** Adds fields to a document, unless somebody deletes it meanwhile. */
export function addFields(
  writer: BulkWriter,
  reference: DocumentReference,
  fields: Record<string, unknown>,
): void {
  void writer.update(reference, fields).catch((error: unknown) => {
    if (statusCode(error) !== NOT_FOUND) throw error;
  });
}

/** So many are under way at once: a database answers that many no slower than one. */
const AT_ONCE = 20;

export async function forEach<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  for (let from = 0; from < items.length; from += AT_ONCE)
    await Promise.all(items.slice(from, from + AT_ONCE).map(work));
}
