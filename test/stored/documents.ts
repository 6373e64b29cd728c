/** Sample documents in `firestore/{collection}/{version}.json`. The current code writes the latest version. */
import { readdirSync, readFileSync } from 'node:fs';
import { Timestamp } from '@google-cloud/firestore';
import { z } from 'zod';
import { mapped } from '../../functions/src/kernel/documentCodec.ts';

const documents = z.record(z.string(), z.unknown());

export type StoredDocuments = z.output<typeof documents>;

export interface StoredVersion {
  readonly version: number;
  /** The documents by their ids, as in the JSON file. */
  readonly documents: StoredDocuments;
}

export const directoryOf = (database: string, name = ''): URL => new URL(`${database}/${name}`, import.meta.url);

export function storedNames(database: 'firestore' | 'realtime'): readonly string[] {
  return readdirSync(directoryOf(database)).sort();
}

/** Returns all stored versions of a collection's documents, oldest first. */
export function storedVersions(database: 'firestore' | 'realtime', name: string): readonly StoredVersion[] {
  const directory = directoryOf(database, `${name}/`);
  return readdirSync(directory)
    .map((file) => {
      const text = readFileSync(new URL(file, directory), 'utf8');
      return { version: Number.parseInt(file, 10), documents: documents.parse(JSON.parse(text)) };
    })
    .sort((one, other) => one.version - other.version);
}

/** Converts a stored value to the form in which Firestore's client reads it, with `Timestamp` objects. */
export function asRead(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asRead);
  if (typeof value !== 'object' || value === null) return value;
  if ('$time' in value && typeof value.$time === 'string') return Timestamp.fromDate(new Date(value.$time));
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, asRead(field)]));
}

/** Replaces each date by an object with the method `toDate`, like the timestamps that Firestore's client reads. */
export function withTimes(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return mapped(fields, (part) => (part instanceof Date ? { toDate: () => part } : undefined));
}
