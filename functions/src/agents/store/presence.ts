/** Presence: which agents are alive, in the Realtime Database. */
import type { Database, DataSnapshot, Reference } from 'firebase-admin/database';
import { DEFAULT_WORKSPACE } from '../../identity/rules/principal.ts';
import { BoundedMap } from '../../kernel/memoCache.ts';
import type { Position } from '../../kernel/paging.ts';
import { type Clock, Service } from '../../kernel/ports.ts';
import { CircuitBreaker } from '../../kernel/realtime/circuitBreaker.ts';
import { changeNode, checkPath, PRESENCE, presencePath } from '../../kernel/realtime/database.ts';
import { Batching } from '../../kernel/waiting.ts';
import { presenceNode, SHORTEST_PRESENCE } from '../rules/agent.ts';
import type { Presence } from '../rules/ports.ts';

/** All instances together write an agent's presence at most this often. */
const TOUCH_MILLISECONDS = 30_000;

/** An instance asks this often whether another one has written, or has learned of a shorter interval. */
const ASK_MILLISECONDS = 5000;

/** A lease is renewed by presence, which is therefore noted so many times in it, and each second at most. */
const NOTED_IN_A_LEASE = 10;

const MAX_REMEMBERED_TOUCHES = 10_000;

/** How many agents' presence is written at once at most. */
const MOST_WRITTEN = 500;

interface Touch {
  readonly agentId: string;
  readonly home: string;
  /** In milliseconds of the epoch. */
  readonly at: number;
  /** How often it is to be written from now on, in milliseconds. */
  readonly within: number | undefined;
}

/** What an instance knows of an agent: when it was seen, when the instance asked that, and how often it is written. */
interface Known {
  readonly seen: number;
  readonly asked: number;
  readonly within: number;
}

/**
 * Knows which agents are alive: `presence/{agentId}` = `{last_seen, workspace}`, milliseconds of the epoch, and
 * `within`, how often it is written, if the agent has claimed with a short lease.
 *
 * The Realtime Database takes about 1,000 writes in a second, and 100,000 agents that beat once a minute are seen 1,700
 * times in a second. So an instance writes in one go whatever was seen while it was writing.
 * Source: https://firebase.google.com/docs/database/usage/limits
 */
export class DatabasePresence
  extends Service<{ readonly database: () => Promise<Database>; readonly clock: Clock }>
  implements Presence
{
  private readonly breaker = new CircuitBreaker();
  private readonly touched = new BoundedMap<string, Known>(MAX_REMEMBERED_TOUCHES);
  private readonly writing = new Batching<Touch, void>((touches) => this.write(touches), MOST_WRITTEN);

  async touch(agentId: string, home: string = DEFAULT_WORKSPACE, leaseSeconds?: number): Promise<void> {
    const at = this.ports.clock.now().getTime();
    const known = this.touched.get(agentId);
    const asked = leaseSeconds === undefined ? TOUCH_MILLISECONDS : withinOf(leaseSeconds);
    // An instance that has read before another one has written may have taken it away: it is written again.
    const within = Math.min(asked, known?.within ?? asked);
    const isNews = known === undefined || within < known.within;
    if (!isNews && at - known.seen < known.within && at - known.asked < ASK_MILLISECONDS) return;
    this.touched.set(agentId, { seen: at, asked: at, within });
    await this.breaker
      .waitFor(() => this.writing.add({ agentId, home, at, within }))
      .catch((error: unknown) => {
        this.touched.delete(agentId);
        throw error;
      });
  }

  /** Two instances that see an agent in the same moment may both write it. */
  private async write(touches: readonly Touch[]): Promise<() => void> {
    const root = (await this.ports.database()).ref();
    const fresh = await Promise.all(touches.map((touch) => this.unlessSeen(root, touch)));
    const due = fresh.flat();
    if (due.length > 0) await this.set(root, due);
    return () => undefined;
  }

  /** The touch, unless an instance has written one shortly before it. */
  private async unlessSeen(root: Reference, touch: Touch): Promise<readonly Touch[]> {
    const { agentId, home, at } = touch;
    const stored = presenceNode.safeParse((await root.child(presencePath(agentId)).get()).val());
    const { last_seen: seen = 0, workspace, within: known = TOUCH_MILLISECONDS } = stored.data ?? {};
    const within = Math.min(known, touch.within ?? known);
    const isKnown = workspace === home && within === known && at - seen < within;
    this.touched.set(agentId, { seen: isKnown ? seen : at, asked: at, within });
    return isKnown ? [] : [{ ...touch, within: within < TOUCH_MILLISECONDS ? within : undefined }];
  }

  private async set(root: Reference, touches: readonly Touch[]): Promise<void> {
    const written = (at: (touch: Touch) => number) =>
      root.update(
        Object.fromEntries(
          touches.map((touch) => {
            const { agentId, home, within } = touch;
            const node = { last_seen: at(touch), workspace: home, ...(within !== undefined && { within }) };
            return [presencePath(agentId), node];
          }),
        ),
      );
    const began = this.ports.clock.now().getTime();
    await written(({ at }) => at);
    const now = this.ports.clock.now().getTime();
    // The client sends again what was under way when it lost the database, minutes later: an older time may then have
    // taken the place of a newer one, and nobody may be taken for dead by that.
    if (now - began > TOUCH_MILLISECONDS) await written(() => now);
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

  async unseenSince(before: Date, limit: number, after?: Position): Promise<ReadonlyMap<string, Date>> {
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

  async forget(agentId: string, before: Date): Promise<boolean> {
    const database = await this.ports.database();
    return changeNode(database.ref(presencePath(agentId)), (current) =>
      lastSeenIn(current) > before.getTime() ? undefined : null,
    );
  }

  async check(): Promise<void> {
    const database = await this.ports.database();
    // Both: a database may be read that takes no writes.
    const node = database.ref(checkPath('presence'));
    await node.set({ at: this.ports.clock.now().getTime() });
    await node.get();
  }
}

function lastSeenOf(snapshot: DataSnapshot): Date | undefined {
  return snapshot.exists() ? new Date(lastSeenIn(snapshot.val())) : undefined;
}

/** How often an agent with such a lease is noted: it must not lose it between two of its calls. */
function withinOf(leaseSeconds: number): number {
  const often = (leaseSeconds * 1000) / NOTED_IN_A_LEASE;
  return Math.min(TOUCH_MILLISECONDS, Math.max(SHORTEST_PRESENCE, often));
}

/** In milliseconds of the epoch; 0 where it does not say. */
export function lastSeenIn(value: unknown): number {
  return presenceNode.safeParse(value).data?.last_seen ?? 0;
}
