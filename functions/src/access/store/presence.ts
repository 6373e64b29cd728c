/** Presence in the Realtime Database: `presence/{agentId}` = `{last_seen}`, milliseconds of the epoch. */

import type { Database, DataSnapshot } from 'firebase-admin/database';
import { BoundedMap } from '../../kernel/memoCache.ts';
import type { Position } from '../../kernel/paging.ts';
import type { Clock, Presence } from '../../kernel/ports.ts';
import { CircuitBreaker, changeNode } from '../../kernel/realtime/database.ts';
import { checkPath, PRESENCE, presencePath } from '../../kernel/realtime/paths.ts';

/** An instance writes an agent's presence at most this often. */
const TOUCH_MILLISECONDS = 500;

const MAX_REMEMBERED = 10_000;

export class DatabasePresence implements Presence {
  private readonly database: () => Promise<Database>;
  private readonly clock: Clock;
  private readonly breaker = new CircuitBreaker();
  private readonly touched = new BoundedMap<string, number>(MAX_REMEMBERED);

  constructor(database: () => Promise<Database>, clock: Clock) {
    this.database = database;
    this.clock = clock;
  }

  async touch(agentId: string): Promise<void> {
    const now = this.clock.now().getTime();
    const last = this.touched.get(agentId);
    if (last !== undefined && now - last < TOUCH_MILLISECONDS) return;
    this.touched.set(agentId, now);
    const write = () =>
      this.database().then((database) => database.ref(presencePath(agentId)).set({ last_seen: now }));
    await this.breaker.waitFor(write).catch((error: unknown) => {
      this.touched.delete(agentId);
      throw error;
    });
  }

  async lastSeen(agentIds: readonly string[]): Promise<ReadonlyMap<string, Date>> {
    const database = await this.database();
    const seen = await Promise.all(
      agentIds.map(async (agentId) => {
        const at = lastSeenOf(await database.ref(presencePath(agentId)).get());
        return at === undefined ? [] : [[agentId, at] as const];
      }),
    );
    return new Map(seen.flat());
  }

  async unseenSince(before: Date, limit: number, after?: Position): Promise<ReadonlyMap<string, Date>> {
    const database = await this.database();
    const all = database.ref(PRESENCE).orderByChild('last_seen').endAt(before.getTime());
    const rest = after === undefined ? all : all.startAfter(after.at.getTime(), after.id);
    const unseen = await rest.limitToFirst(limit).get();
    const found = new Map<string, Date>();
    unseen.forEach((child) => {
      found.set(child.key, lastSeenOf(child) ?? new Date(0));
    });
    return found;
  }

  async forget(agentId: string, before: Date): Promise<boolean> {
    const database = await this.database();
    return changeNode(database.ref(presencePath(agentId)), (current) =>
      lastSeenIn(current) > before.getTime() ? undefined : null,
    );
  }

  async check(): Promise<void> {
    const database = await this.database();
    // Both: a database may be read that takes no writes.
    const node = database.ref(checkPath('presence'));
    await node.set({ at: this.clock.now().getTime() });
    await node.get();
  }
}

function lastSeenOf(snapshot: DataSnapshot): Date | undefined {
  return snapshot.exists() ? new Date(lastSeenIn(snapshot.val())) : undefined;
}

/** The last moment that a date can be. */
const LAST_MOMENT = 8.64e15;

/** In milliseconds of the epoch; 0 where it does not say. */
export function lastSeenIn(value: unknown): number {
  const isObject = typeof value === 'object' && value !== null;
  const at = isObject && 'last_seen' in value ? value.last_seen : 0;
  return typeof at === 'number' && Math.abs(at) <= LAST_MOMENT ? at : 0;
}
