/** Documents in `firestore/{collection}/{version}.json`; the latest version is what the current code writes. */
import { readdirSync, readFileSync } from 'node:fs';
import { Timestamp } from '@google-cloud/firestore';
import { z } from 'zod';
import { mapped } from '../../functions/src/kernel/documentCodec.ts';

const documents = z.record(z.string(), z.unknown());

export type StoredDocuments = z.output<typeof documents>;

export interface StoredVersion {
  readonly version: number;
  /** As in the file. */
  readonly documents: StoredDocuments;
}

export function directoryOf(database: string, name = ''): URL {
  return new URL(`${database}/${name}`, import.meta.url);
}

export function storedNames(database: 'firestore' | 'realtime'): readonly string[] {
  return readdirSync(directoryOf(database)).sort();
}

/** Returns the versions, oldest first. */
export function storedVersions(database: 'firestore' | 'realtime', name: string): readonly StoredVersion[] {
  const directory = directoryOf(database, `${name}/`);
  return readdirSync(directory)
    .map((file) => {
      const text = readFileSync(new URL(file, directory), 'utf8');
      return { version: Number.parseInt(file, 10), documents: documents.parse(JSON.parse(text)) };
    })
    .sort((one, other) => one.version - other.version);
}

/** Returns the value as Firestore's client reads it, with its timestamps. */
export function asRead(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asRead);
  if (typeof value !== 'object' || value === null) return value;
  if ('$time' in value && typeof value.$time === 'string') return Timestamp.fromDate(new Date(value.$time));
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, asRead(field)]));
}

/** Returns fields with dates as Firestore's client reads them. */
export function withTimes(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return mapped(fields, (part) => (part instanceof Date ? { toDate: () => part } : undefined));
}
