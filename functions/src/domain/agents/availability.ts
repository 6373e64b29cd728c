/** What an agent is doing, derived from its document. Source: docs/semantics.md#network; spec/network.md, system.getAgents. */
import type { Agent } from './agent.ts';

/** How often an agent is expected to be heard of. */
export const HEARTBEAT_SECONDS = 60;

/** An agent unseen for this many heartbeats is offline. */
const MISSED_HEARTBEATS = 3;

/** How long an agent may be silent before it is offline. */
export const SILENCE_MILLISECONDS = MISSED_HEARTBEATS * HEARTBEAT_SECONDS * 1000;

export const AVAILABILITIES = ['active', 'idle', 'busy', 'offline', 'error'] as const;

/**
 * `offline`: unseen for three heartbeats. `busy`: holds as many tasks as it may. `active`: holds some. Holding
 * none, `error` where the last one that it closed failed, else `idle`.
 */
export type Availability = (typeof AVAILABILITIES)[number];

export function availability({ status, held, configuration, lastFailed }: Agent): Availability {
  if (status === 'offline') return 'offline';
  const count = Object.keys(held).length;
  if (count >= configuration.maxConcurrentTasks) return 'busy';
  if (count > 0) return 'active';
  return lastFailed ? 'error' : 'idle';
}

/** The agent as it is now, where the sweep has not come by yet since it was last seen. */
export function withPresence(agent: Agent, lastSeen: Date | undefined, now: Date): Agent {
  if (agent.status === 'offline' || lastSeen === undefined) return agent;
  const isGone = now.getTime() - lastSeen.getTime() > SILENCE_MILLISECONDS;
  return { ...agent, lastSeen, ...(isGone && { status: 'offline' as const }) };
}
