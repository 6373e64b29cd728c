/** Current work of the first agents. The others, and agents that are offline, are only counted. */
import { agents as words } from '../../../text/agents.ts';
import { needsYou as text } from '../../../text/needsYou.ts';
import { Fill } from '../../../ui/Fill.tsx';
import { fill, plural } from '../../../ui/format.ts';
import { UserText } from '../../../ui/UserText.tsx';
import { type Agent, agentDocument } from '../../live/documents.ts';
import { usePaged } from '../../live/paged.ts';
import { agentsOf } from '../../live/queries.ts';
import { now } from '../../live/time.ts';
import { HeldLease } from '../../parts/Lease.tsx';
import { headOf } from '../../parts/More.tsx';
import { Empty, Section, Shown } from '../../parts/Notice.tsx';
import { byPresence, type Presence, usePresence } from '../../parts/presence.ts';
import { agoText } from '../../parts/Time.tsx';
import { TaskTitle } from '../../parts/Title.tsx';
import { Who } from '../../parts/Who.tsx';
import { addressOf } from '../../router.ts';
import { PAGES } from '../../shell/screens.ts';

export function OnlineAgents({ here }: { readonly here: string }) {
  const agents = usePaged(agentsOf(here), agentDocument);
  return (
    <Section title={text.agents} count={headOf(agents)} actions={<a href={addressOf(['agents'])}>{text.viewAll}</a>}>
      <Shown live={agents.live} what={text.agents.toLowerCase()}>
        {({ rows }) =>
          rows.length === 0 ? (
            <div class="card">
              <Empty icon="agent" title={text.noAgents} hint={text.noAgentsHint} />
            </div>
          ) : (
            <Rows agents={rows} count={agents.count ?? rows.length} />
          )
        }
      </Shown>
    </Section>
  );
}

const MAX_SHOWN = 12;

function Rows({ agents, count }: { readonly agents: readonly Agent[]; readonly count: number }) {
  const sorted = usePresence(agents).toSorted(byPresence);
  const online = sorted.filter(({ sign }) => sign !== 'offline');
  const shown = online.slice(0, MAX_SHOWN);
  const others = count - shown.length;
  const areOffline = online.length === shown.length && agents.length === count;
  return (
    <ul class="card rows">
      {shown.map((presence) => (
        <li key={presence.agent.id} class="row top-line">
          <Who id={presence.agent.id} large isOnlyPicture hasSign />
          <div class="grow">
            <AgentNow presence={presence} />
          </div>
        </li>
      ))}
      {others > 0 && <li class="row faint">{plural(others, areOffline ? text.offline : text.moreAgents)}</li>}
    </ul>
  );
}

function AgentNow({ presence: { agent, seen, sign } }: { readonly presence: Presence }) {
  const [first, ...rest] = Object.keys(agent.held);
  const isAway = sign === 'offline' || sign === 'silent';
  const away = fill(words.seen, { sign: words.signs[sign], when: agoText(seen, now.value) });
  return (
    <>
      <p class="line">
        <a href={addressOf([PAGES.agent, agent.id])}>
          <b>
            <UserText text={agent.name} limit={60} />
          </b>
        </a>
        <small class={`push nowrap ${sign === 'silent' ? 'wait' : 'faint'}`}>
          {isAway ? away : first === undefined ? words.signs[sign] : <HeldLease taskId={first} />}
        </small>
      </p>
      {first !== undefined && (
        <p class="soft">
          <Fill
            text={rest.length === 0 ? '{task}' : `{task} ${fill(text.andMore, { n: rest.length })}`}
            with={{ task: <TaskTitle id={first} limit={80} /> }}
          />
        </p>
      )}
    </>
  );
}
