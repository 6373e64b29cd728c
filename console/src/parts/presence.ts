/** Presence of agents: whether they work, from the tasks that they hold and the time of their last heartbeat. */
import { type Agent, presenceNode } from '../live/documents.ts';
import { useAllLive } from '../live/live.ts';
import { presenceOf } from '../live/queries.ts';
import { node } from '../live/sources.ts';
import { calm } from '../live/time.ts';

export type Sign = 'working' | 'waiting' | 'idle' | 'silent' | 'offline';

/** Time after which an agent that was not seen is offline. Source: docs/semantics.md#network. */
const OFFLINE_AFTER_MS = 180_000;

export interface Presence {
  readonly agent: Agent;
  readonly seen: Date;
  readonly sign: Sign;
}

/** Returns the presence of agents, in their order. The time of a heartbeat is stored apart from the agent's document. */
export function usePresence(agents: readonly Agent[]): readonly Presence[] {
  const heartbeats = useAllLive(agents.map(({ id }) => node(presenceOf(id), presenceNode)));
  return agents.map((agent, index) => {
    const live = heartbeats[index];
    const heartbeat = live !== undefined && 'value' in live ? (live.value?.last_seen ?? 0) : 0;
    const seen = new Date(Math.max(heartbeat, agent.last_seen.getTime()));
    return { agent, seen, sign: signOf(agent, seen, calm.value) };
  });
}

function signOf(agent: Agent, seen: Date, present: number): Sign {
  const holds = Object.keys(agent.held).length > 0;
  if (present - seen.getTime() > OFFLINE_AFTER_MS) return holds ? 'silent' : 'offline';
  return holds ? 'working' : 'idle';
}

const ORDER: readonly Sign[] = ['working', 'waiting', 'silent', 'idle', 'offline'];

/** Sorts agents: those at work first, then those that were seen last. */
export const byPresence = (one: Presence, other: Presence): number =>
  ORDER.indexOf(one.sign) - ORDER.indexOf(other.sign) || other.seen.getTime() - one.seen.getTime();
