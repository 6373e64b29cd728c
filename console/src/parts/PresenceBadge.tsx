/** Presence of an agent, with the time at which the agent was last seen. */
import { type Agent, presenceNode } from '../live/documents.ts';
import { useLive } from '../live/live.ts';
import { presenceOf } from '../live/queries.ts';
import { node } from '../live/sources.ts';
import { now } from '../live/time.ts';
import { Ago } from './Status.tsx';

/** Time after which an agent that was not seen is offline. Source: docs/semantics.md#network. */
const OFFLINE_AFTER_MS = 180_000;

export function PresenceBadge({ agent }: { readonly agent: Agent }) {
  const presence = useLive(node(presenceOf(agent.id), presenceNode));
  const lastSeen = 'value' in presence ? (presence.value?.last_seen ?? 0) : 0;
  const seen = new Date(Math.max(lastSeen, agent.last_seen.getTime()));
  // The stored status can be outdated, so only the time decides.
  const word = now.value - seen.getTime() > OFFLINE_AFTER_MS ? 'offline' : 'alive';
  return (
    <span class={`sign ${word}`}>
      {word}, seen <Ago at={seen} />
    </span>
  );
}
