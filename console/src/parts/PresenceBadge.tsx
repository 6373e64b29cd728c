/** Presence of an agent, with the time at which the agent was last seen. */
import { type Agent, presenceNode } from '../live/documents.ts';
import { useLive } from '../live/live.ts';
import { presenceOf } from '../live/queries.ts';
import { node } from '../live/sources.ts';
import { now } from '../live/time.ts';
import { Ago } from './Status.tsx';

/** Time after which an agent that was not seen is shown as about to go offline. Source: docs/semantics.md#network. */
const OFFLINE_AFTER_MS = 120_000;

export function PresenceBadge({ agent }: { readonly agent: Agent }) {
  const presence = useLive(agent.status === 'active' ? node(presenceOf(agent.id), presenceNode) : undefined);
  const lastSeen = 'value' in presence ? (presence.value?.last_seen ?? 0) : 0;
  const seen = new Date(Math.max(lastSeen, agent.last_seen.getTime()));
  const isSilent = now.value - seen.getTime() > OFFLINE_AFTER_MS;
  const word = agent.status === 'offline' ? 'offline' : isSilent ? 'silent' : 'alive';
  return (
    <span class={`sign ${word}`}>
      {word}, seen <Ago at={seen} />
    </span>
  );
}
