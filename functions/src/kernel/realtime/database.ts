/** The Realtime Database: its client, compare-and-set, and the circuit breaker for when it is away. */
import type { Database, DataSnapshot, Query, Reference } from 'firebase-admin/database';
import { inTime } from '../waiting.ts';
import { minuteMetricsPath } from './paths.ts';

/** The Realtime Database. Its client is loaded when something first needs it. */
export async function realtimeDatabase(): Promise<Database> {
  const [{ firebaseApp }, { getDatabase }] = await Promise.all([
    import('../firebaseApp.ts'),
    import('firebase-admin/database'),
  ]);
  return getDatabase(firebaseApp());
}

/** A minute in which nobody called: nothing is ever there. */
const NOWHERE = minuteMetricsPath(new Date(0));

/** Asks the server for a node that has nothing. */
export async function probeRealtimeDatabase(database: () => Promise<Database>): Promise<void> {
  await (await database()).ref(NOWHERE).get();
}

/** Removes what the query finds, in one write. Tells how many. */
export async function removeFound(query: Query): Promise<number> {
  const found = await query.get();
  const removals: Record<string, null> = {};
  found.forEach((child) => {
    removals[child.key] = null;
  });
  const count = Object.keys(removals).length;
  if (count > 0) await query.ref.update(removals);
  return count;
}

// Compare-and-set of one node.

/**
 * What the client says of a transaction whose answer was lost with the connection: nobody knows whether it took effect.
 * Source: @firebase/database, PersistentConnection.cancelSentTransactions_.
 */
const UNANSWERED = 'disconnect';

/** What it says where somebody here wrote over it. Source: @firebase/database, repoAbortTransactions. */
const OVERWRITTEN = 'set';

/** A connection that breaks again and again ends the trying. */
const MAX_ATTEMPTS = 3;

/**
 * Changes a node from what it is. Where the answer is lost it is done again as soon as there is a connection, over what
 * is there then.
 * @param update gives the new value, or undefined to leave it; called again where the node is another than it
 *   seemed. What it has written itself, before an answer was lost, it must know again and write once more.
 * @returns whether it was changed, as far as is known
 */
export async function changeNode(
  node: Reference,
  update: (current: unknown) => object | string | number | null | undefined,
): Promise<boolean> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    try {
      // Not applied locally: listeners must not be told of what the database may refuse.
      return (await node.transaction(update, undefined, false)).committed;
    } catch (error) {
      const reason = error instanceof Error ? error.message : undefined;
      if (reason === OVERWRITTEN) return false;
      if (reason !== UNANSWERED) throw error;
    }
  }
  return false;
}

// Lists of which only the latest are kept: `{list}/{id}` with the milliseconds of the epoch under `at`.

/** So many may have been added at the same time by others. */
const MOST_AT_ONCE = 100;

/**
 * Puts an entry there unless it is there, and drops the oldest beyond those that are kept. One that is older than
 * all of them is dropped again.
 * @param byTime the list, ordered by `at`
 */
export async function putAmongLatest(
  byTime: Query,
  key: string,
  entry: { readonly at: number },
  kept: number,
): Promise<void> {
  await changeNode(byTime.ref.child(key), (current) => (current === null ? entry : undefined));
  const found = await byTime.limitToLast(kept + MOST_AT_ONCE).get();
  const keys = keysIn(found);
  const dropped = keys.slice(0, Math.max(0, keys.length - kept));
  if (dropped.length > 0) await byTime.ref.update(Object.fromEntries(dropped.map((each) => [each, null])));
}

function keysIn(found: DataSnapshot): readonly string[] {
  const keys: string[] = [];
  found.forEach((child) => {
    keys.push(child.key);
  });
  return keys;
}

// Waiting for the Realtime Database, whose client waits for a lost one for ever. A caller waits a second,
// and while an answer is overdue nobody waits at all.

const TIMEOUT_MILLISECONDS = 1000;

export class CircuitBreaker {
  /** Answers that were waited for in vain and have not come since. */
  private overdue = 0;

  /** Whether something is waited for in vain. */
  get isOverdue(): boolean {
    return this.overdue > 0;
  }

  /**
   * @param start given a signal that nobody waits any more
   * @throws Error where it takes longer than a second
   */
  async waitFor<T>(start: (late: AbortSignal) => Promise<T>): Promise<T> {
    if (this.isOverdue) throw stillAway();
    const late = new AbortController();
    let hasEnded = false;
    const work = start(late.signal).finally(() => {
      hasEnded = true;
    });
    return inTime(work, TIMEOUT_MILLISECONDS, 'The Realtime Database').catch((error: unknown) => {
      if (!hasEnded) this.giveUp(work, late);
      throw error;
    });
  }

  private giveUp(work: Promise<unknown>, late: AbortController): void {
    late.abort();
    this.overdue += 1;
    void work
      .catch(() => undefined)
      .finally(() => {
        this.overdue -= 1;
      });
  }
}

export function stillAway(): Error {
  return new Error('The Realtime Database has still not answered.');
}
