/** Code that all rebuilds share: context, progress, and iteration over the Realtime Database. */
import type { Firestore } from '@google-cloud/firestore';
import type { Database, DataSnapshot } from 'firebase-admin/database';
import type { Composition } from '../../functions/src/composition/compose.ts';
import { canonicalJson } from '../../functions/src/kernel/json.ts';

export interface Rebuilding {
  readonly database: Firestore;
  readonly realtime: Database;
  readonly ports: Composition['coordination']['ports'] &
    Pick<Composition['kernel'], 'store'> &
    Pick<Composition['system']['ports'], 'sweepRecord'>;
  readonly services: Pick<Composition['services'], 'mirrorQueuedTask' | 'mirrorPerson' | 'mirrorWorkspaces'>;
  readonly isDry: boolean;
  readonly say: (sentence: string) => void;
}

const REPORT_INTERVAL_MS = 5000;

/** Counts checked and wrong items, and prints the progress regularly. */
export class Progress {
  private readonly what: string;
  private readonly rebuilding: Pick<Rebuilding, 'isDry' | 'say'>;
  private seen = 0;
  private wrong = 0;
  private reportedAt = Date.now();

  /** @param what name of the counted items, in the plural */
  constructor(what: string, rebuilding: Pick<Rebuilding, 'isDry' | 'say'>) {
    this.what = what;
    this.rebuilding = rebuilding;
  }

  add(isWrong: boolean): void {
    this.seen += 1;
    if (isWrong) this.wrong += 1;
    if (Date.now() - this.reportedAt < REPORT_INTERVAL_MS) return;
    this.reportedAt = Date.now();
    this.rebuilding.say(`  ${this.what}: ${this.seen} checked so far, ${this.wrong} wrong`);
  }

  end(): void {
    const done = this.rebuilding.isDry ? 'to correct' : 'corrected';
    this.rebuilding.say(`${this.what}: ${this.seen} checked, ${this.wrong} ${done}.`);
  }
}

/** Returns a function that reports the path of an unreadable document. */
export function unread(say: Rebuilding['say']): (path: string) => void {
  return (path) => say(`  ${path} is unreadable and was skipped.`);
}

const PAGE = 300;

/** Yields the children of a node in pages, ordered by key. */
export async function* childrenOf(
  database: Database,
  path: string,
  pageSize = PAGE,
): AsyncGenerator<readonly DataSnapshot[], void, undefined> {
  let after: string | undefined;
  for (;;) {
    const byKey = database.ref(path).orderByKey();
    const rest = after === undefined ? byKey : byKey.startAfter(after);
    const page: DataSnapshot[] = [];
    (await rest.limitToFirst(pageSize).get()).forEach((child) => void page.push(child));
    if (page.length > 0) yield page;
    after = page.at(-1)?.key ?? undefined;
    if (page.length < pageSize || after === undefined) return;
  }
}

/** Returns whether a node equals a written value. The Realtime Database does not store empty objects and lists. */
export function isStoredAs(snapshot: DataSnapshot, written: unknown): boolean {
  return canonicalJson(kept(snapshot.val())) === canonicalJson(kept(written));
}

function kept(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value ?? null;
  const fields = Object.entries(value)
    .map(([name, field]) => [name, kept(field)] as const)
    .filter(([, field]) => field !== null);
  return fields.length === 0 ? null : Object.fromEntries(fields);
}
