/** What each rebuild works with, how it tells how far it is, and how it walks along the Realtime Database. */
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
  /** Nothing is to be changed: only what would be is told. */
  readonly isDry: boolean;
  /** Tells the operator something. */
  readonly say: (sentence: string) => void;
}

const TOLD_EVERY_MILLISECONDS = 5000;

/** Counts what was looked at and what was wrong, and tells now and then how far it is. */
export class Progress {
  private readonly what: string;
  private readonly rebuilding: Pick<Rebuilding, 'isDry' | 'say'>;
  private seen = 0;
  private wrong = 0;
  private toldAt = Date.now();

  /** @param what of which it counts, in the plural */
  constructor(what: string, rebuilding: Pick<Rebuilding, 'isDry' | 'say'>) {
    this.what = what;
    this.rebuilding = rebuilding;
  }

  add(isWrong: boolean): void {
    this.seen += 1;
    if (isWrong) this.wrong += 1;
    if (Date.now() - this.toldAt < TOLD_EVERY_MILLISECONDS) return;
    this.toldAt = Date.now();
    this.rebuilding.say(`  ${this.what}: ${this.seen} so far, ${this.wrong} of them wrong`);
  }

  end(): void {
    const done = this.rebuilding.isDry ? 'to be set right' : 'set right';
    this.rebuilding.say(`${this.what}: ${this.seen} looked at, ${this.wrong} ${done}.`);
  }
}

/** Tells of a document that nobody can read. */
export function unread(say: Rebuilding['say']): (path: string) => void {
  return (path) => say(`  ${path} cannot be read, and is left out.`);
}

const PAGE = 300;

/** The children of a node by their keys, in pages. */
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

/** Whether a node has what was written to it: the Realtime Database keeps nothing that is empty. */
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
