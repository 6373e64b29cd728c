/** Presence of agents, stored in the Realtime Database. */
import type { Database, DataSnapshot, Reference } from 'firebase-admin/database';
import { DEFAULT_WORKSPACE } from '../../identity/rules/principal.ts';
import { Batching } from '../../kernel/concurrency.ts';
import { BoundedMap } from '../../kernel/memoCache.ts';
import type { TimeCursor } from '../../kernel/paging.ts';
import { type Clock, Service } from '../../kernel/ports.ts';
import { CircuitBreaker, changeNode, checkPath, PRESENCE, presencePath } from '../../kernel/realtime/database.ts';
import { MIN_PRESENCE_MS, presenceNode } from '../rules/agent.ts';
import type { Presence } from '../rules/ports.ts';

/** Minimum time between two writes of an agent's presence by all instances together, in milliseconds. */
const WRITE_INTERVAL_MS = 30_000;

/** Interval at which an instance reads the presence that other instances have written, in milliseconds. */
const READ_INTERVAL_MS = 5000;

/** Number of presence writes per lease, because presence renews leases. At most one write per second is made. */
const WRITES_PER_LEASE = 10;
const MAX_CACHED_AGENTS = 10_000;
const MAX_WRITE_BATCH = 500;

interface Touch {
  readonly agentId: string;
  readonly home: string;
  /** Time at which the agent was seen, in milliseconds since the epoch. */
  readonly at: number;
  readonly intervalMs: number | undefined;
}

/** Cached presence of an agent. All values are in milliseconds; `readAt` is the time of the last read. */
interface Known {
  readonly seenAt: number;
  readonly readAt: number;
  readonly intervalMs: number;
}

/**
 * Stores when agents were last seen, as `presence/{agentId}` = `{last_seen, workspace}` in milliseconds since the
 * epoch. After a claim with a short lease, the write interval `intervalMs` is stored too.
 */
export class DatabasePresence
  extends Service<{ readonly database: () => Promise<Database>; readonly clock: Clock }>
  implements Presence
{
  private readonly breaker = new CircuitBreaker();
  private readonly touched = new BoundedMap<string, Known>(MAX_CACHED_AGENTS);
  private readonly writing = new Batching<Touch, void>((touches) => this.write(touches), MAX_WRITE_BATCH);

  async touch(agentId: string, home: string = DEFAULT_WORKSPACE, leaseSeconds?: number): Promise<void> {
    const at = this.ports.clock.now().getTime();
    const known = this.touched.get(agentId);
    const asked = leaseSeconds === undefined ? WRITE_INTERVAL_MS : writeIntervalOf(leaseSeconds);
    // The shorter interval is written again, because another instance may have overwritten it after an older read.
    const intervalMs = Math.min(asked, known?.intervalMs ?? asked);
    const isNews = known === undefined || intervalMs < known.intervalMs;
    if (!isNews && at - known.seenAt < known.intervalMs && at - known.readAt < READ_INTERVAL_MS) return;
    this.touched.set(agentId, { seenAt: at, readAt: at, intervalMs });
    await this.breaker
      .waitFor(() => this.writing.add({ agentId, home, at, intervalMs }))
      .catch((error: unknown) => {
        this.touched.delete(agentId);
        throw error;
      });
  }

  /** Writes presence that is due. If two instances see an agent at the same time, both may write its presence. */
  private async write(touches: readonly Touch[]): Promise<() => void> {
    const root = (await this.ports.database()).ref();
    const fresh = await Promise.all(touches.map((touch) => this.notRecentlySeen(root, touch)));
    const due = fresh.flat();
    if (due.length > 0) await this.set(root, due);
    return () => undefined;
  }

  /** Returns the touch, or nothing if an instance has written the agent's presence recently. */
  private async notRecentlySeen(root: Reference, touch: Touch): Promise<readonly Touch[]> {
    const { agentId, home, at } = touch;
    const stored = presenceNode.safeParse((await root.child(presencePath(agentId)).get()).val());
    const { last_seen: seen = 0, workspace, within: known = WRITE_INTERVAL_MS } = stored.data ?? {};
    const intervalMs = Math.min(known, touch.intervalMs ?? known);
    const isKnown = workspace === home && intervalMs === known && at - seen < intervalMs;
    this.touched.set(agentId, { seenAt: isKnown ? seen : at, readAt: at, intervalMs });
    return isKnown ? [] : [{ ...touch, intervalMs: intervalMs < WRITE_INTERVAL_MS ? intervalMs : undefined }];
  }

  private async set(root: Reference, touches: readonly Touch[]): Promise<void> {
    const written = (at: (touch: Touch) => number) =>
      root.update(
        Object.fromEntries(
          touches.map((touch) => {
            const { agentId, home, intervalMs } = touch;
            const node = {
              last_seen: at(touch),
              workspace: home,
              ...(intervalMs !== undefined && { within: intervalMs }),
            };
            return [presencePath(agentId), node];
          }),
        ),
      );
    const began = this.ports.clock.now().getTime();
    await written(({ at }) => at);
    const now = this.ports.clock.now().getTime();
    // After a lost connection, the client resends pending writes minutes later. An old time may then have overwritten
    // a newer time. So that the agent is not marked as offline, the current time is written.
    if (now - began > WRITE_INTERVAL_MS) await written(() => now);
  }

  async lastSeen(agentIds: readonly string[]): Promise<ReadonlyMap<string, Date>> {
    const database = await this.ports.database();
    const seen = await Promise.all(
      agentIds.map(async (agentId) => {
        const at = lastSeenOf(await database.ref(presencePath(agentId)).get());
        return at === undefined ? [] : [[agentId, at] as const];
      }),
    );
    return new Map(seen.flat());
  }

  async notSeenSince(before: Date, limit: number, after?: TimeCursor): Promise<ReadonlyMap<string, Date>> {
    const database = await this.ports.database();
    const all = database.ref(PRESENCE).orderByChild('last_seen').endAt(before.getTime());
    const rest = after === undefined ? all : all.startAfter(after.at.getTime(), after.id);
    const unseen = await rest.limitToFirst(limit).get();
    const found = new Map<string, Date>();
    unseen.forEach((child) => {
      found.set(child.key, lastSeenOf(child) ?? new Date(0));
    });
    return found;
  }

  async restore(agentId: string, home: string, lastSeen: Date): Promise<void> {
    const node = (await this.ports.database()).ref(presencePath(agentId));
    await changeNode(node, (stored) => {
      const { last_seen: seen = lastSeen.getTime(), workspace } = presenceNode.safeParse(stored).data ?? {};
      return workspace === home ? undefined : { last_seen: seen, workspace: home };
    });
  }

  async remove(agentId: string, before: Date): Promise<boolean> {
    const database = await this.ports.database();
    return changeNode(database.ref(presencePath(agentId)), (current) =>
      lastSeenIn(current) > before.getTime() ? undefined : null,
    );
  }

  async check(): Promise<void> {
    const database = await this.ports.database();
    // Writes and reads, because a database can be readable but not writable.
    const node = database.ref(checkPath('presence'));
    await node.set({ at: this.ports.clock.now().getTime() });
    await node.get();
  }
}

function lastSeenOf(snapshot: DataSnapshot): Date | undefined {
  return snapshot.exists() ? new Date(lastSeenIn(snapshot.val())) : undefined;
}

/** Returns a write interval that is short enough to keep a lease of this length from expiring. */
function writeIntervalOf(leaseSeconds: number): number {
  const often = (leaseSeconds * 1000) / WRITES_PER_LEASE;
  return Math.min(WRITE_INTERVAL_MS, Math.max(MIN_PRESENCE_MS, often));
}

/** Returns the stored time in milliseconds since the epoch. It is 0 if the stored value is missing or invalid. */
export function lastSeenIn(value: unknown): number {
  return presenceNode.safeParse(value).data?.last_seen ?? 0;
}
