/**
 * Paths that callers name. Checked before anything is sent to a database.
 * Source: spec/network.md, "firebase.read"; docs/semantics.md#network;
 * https://firebase.google.com/docs/firestore/quotas; https://firebase.google.com/docs/database/usage/limits.
 */
import { invalidPath } from './errors.ts';

export const DATABASES = ['realtime', 'firestore'] as const;

export type DatabaseName = (typeof DATABASES)[number];

/** A path whose segments can be trusted. */
export interface DataPath {
  readonly database: DatabaseName;
  readonly text: string;
  readonly segments: readonly string[];
  /** In Firestore an even number of segments is a document and an odd one a collection. */
  readonly kind: 'document' | 'collection' | 'node';
}

/** As spec/network.md writes it. */
export const PATH_PATTERN = '^[a-zA-Z0-9/_-]+$';

const CHARACTERS = new RegExp(PATH_PATTERN);

/** Firestore keeps these for itself, as ids of documents and of collections. */
const RESERVED = /^__.*__$/;

interface Limits {
  /** Characters, which here are bytes. */
  readonly path: number;
  readonly segment: number;
  readonly segments: number;
}

const LIMITS: Readonly<Record<DatabaseName, Limits>> = {
  firestore: { path: 6144, segment: 1500, segments: 200 },
  realtime: { path: 24_608, segment: 768, segments: 32 },
};

/** @throws MusterError with reason INVALID_PATH, saying what is wrong and what is right */
export function parsePath(database: DatabaseName, text: string): DataPath {
  const limits = LIMITS[database];
  if (text.length > limits.path) throw invalidPath(text, `is longer than ${limits.path} characters`);
  if (!CHARACTERS.test(text)) {
    throw invalidPath(text, 'may only hold letters, digits, "_", "-" and, between segments, "/"');
  }
  const segments = text.split('/');
  if (segments.includes('')) {
    throw invalidPath(text, 'has an empty segment: it neither begins nor ends with "/", nor has "//"');
  }
  if (segments.length > limits.segments) throw invalidPath(text, `has more than ${limits.segments} segments`);
  const long = segments.some((segment) => segment.length > limits.segment);
  if (long) throw invalidPath(text, `has a segment longer than ${limits.segment} characters`);
  const reserved = database === 'firestore' ? segments.find((segment) => RESERVED.test(segment)) : undefined;
  if (reserved !== undefined) throw invalidPath(text, 'has a segment in "__…__", which Firestore reserves');
  return { database, text, segments, kind: kindOf(database, segments) };
}

function kindOf(database: DatabaseName, segments: readonly string[]): DataPath['kind'] {
  if (database === 'realtime') return 'node';
  return segments.length % 2 === 0 ? 'document' : 'collection';
}
