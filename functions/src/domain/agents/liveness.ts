/** Marking agents offline that went away. Source: design, section 6, "liveness sweep". */
import type { Clock, Presence, Randomness } from '../ports.ts';
import type { AgentReader } from '../readers.ts';
import { retryStale } from '../retry.ts';
import type { Store } from '../store.ts';

/** How often an agent is expected to be heard of. */
export const HEARTBEAT_SECONDS = 60;

/** An agent unseen for this many heartbeats is offline. */
const MISSED_HEARTBEATS = 3;

const BATCH = 100;
const MAX_BATCHES = 20;

export interface LivenessDependencies {
  readonly agents: AgentReader;
  readonly store: Store;
  readonly presence: Presence;
  readonly clock: Clock;
  readonly randomness: Randomness;
}

export class AgentLiveness {
  private readonly dependencies: LivenessDependencies;

  constructor(dependencies: LivenessDependencies) {
    this.dependencies = dependencies;
  }

  /** Marks unseen agents offline, then forgets their presence. Tells how many. */
  async sweep(): Promise<number> {
    const { presence, clock } = this.dependencies;
    const before = new Date(clock.now().getTime() - MISSED_HEARTBEATS * HEARTBEAT_SECONDS * 1000);
    let marked = 0;
    for (let count = 0; count < MAX_BATCHES; count++) {
      const unseen = await presence.unseenSince(before, BATCH);
      for (const [agentId, lastSeen] of unseen) {
        await this.mark(agentId, 'offline', lastSeen);
        if (await presence.forget(agentId, before)) marked++;
        else await this.mark(agentId, 'active', clock.now());
      }
      if (unseen.size < BATCH) break;
    }
    return marked;
  }

  /** Marks an agent active that is heard of again. */
  revive(agentId: string): Promise<void> {
    return this.mark(agentId, 'active', this.dependencies.clock.now());
  }

  private async mark(agentId: string, status: 'active' | 'offline', lastSeen: Date): Promise<void> {
    const { agents, store, randomness } = this.dependencies;
    await retryStale(randomness, async () => {
      const known = await agents.find(agentId);
      if (known === undefined || known.value.status === status) return;
      await store.commit([
        { kind: 'replaceAgent', agent: { ...known.value, status, lastSeen }, version: known.version },
      ]);
    });
  }
}
