/** Agents of the workspace: what each does now, and the timeline of its day. */
import { agents as text } from '../../../text/agents.ts';
import { needsYou } from '../../../text/needsYou.ts';
import { shell } from '../../../text/shell.ts';
import { Fill } from '../../../ui/Fill.tsx';
import { fill, longDayOf, number } from '../../../ui/format.ts';
import { UserText } from '../../../ui/UserText.tsx';
import { type Agent, agentDocument } from '../../live/documents.ts';
import { usePaged } from '../../live/paged.ts';
import { agentsOf } from '../../live/queries.ts';
import { now } from '../../live/time.ts';
import { Bones } from '../../parts/Bones.tsx';
import { HeldLease } from '../../parts/Lease.tsx';
import { MoreOf } from '../../parts/More.tsx';
import { Near } from '../../parts/Near.tsx';
import { Empty, Section, Shown } from '../../parts/Notice.tsx';
import { Page } from '../../parts/Page.tsx';
import { byPresence, type Presence, type Sign, usePresence } from '../../parts/presence.ts';
import { agoText } from '../../parts/Time.tsx';
import { TaskTitle } from '../../parts/Title.tsx';
import { Who } from '../../parts/Who.tsx';
import { addressOf, workspace } from '../../router.ts';
import { PAGES } from '../../shell/screens.ts';
import { ConnectAgent } from './ConnectAgent.tsx';
import { DayOfAgents } from './DayOfAgents.tsx';

export function Agents() {
  const agents = usePaged(agentsOf(workspace.value), agentDocument);
  return (
    <Page title={shell.agents} actions={<ConnectAgent />}>
      <Shown live={agents.live} what={shell.agents.toLowerCase()} bones={<Bones lines={6} />}>
        {({ rows }) =>
          rows.length === 0 ? (
            <Empty icon="agent" title={needsYou.noAgents} hint={needsYou.noAgentsHint} />
          ) : (
            <Listed agents={rows} />
          )
        }
      </Shown>
      <MoreOf what={shell.agents.toLowerCase()} of={agents} />
    </Page>
  );
}

function Listed({ agents }: { readonly agents: readonly Agent[] }) {
  const sorted = usePresence(agents).toSorted(byPresence);
  return (
    <>
      <div class="edge-to-edge">
        <table class="list agents">
          <thead>
            <tr>
              <th scope="col">{text.agent}</th>
              <th scope="col">{text.status}</th>
              <th scope="col">{text.now}</th>
              <th scope="col" class="right">
                {text.doneFailed}
              </th>
            </tr>
          </thead>
          <tbody>
            {sorted.map((presence) => (
              <Near as="tr" key={presence.agent.id}>
                <AgentRow presence={presence} />
              </Near>
            ))}
          </tbody>
        </table>
      </div>
      <Section title={text.today} isCard actions={<span class="soft">{longDayOf(new Date(now.value))}</span>}>
        <DayOfAgents agents={sorted.map(({ agent }) => agent)} />
      </Section>
    </>
  );
}

const TONES: Readonly<Record<Sign, string>> = {
  working: 'good',
  waiting: 'wait',
  idle: 'soft',
  silent: 'wait',
  offline: 'faint',
};

function AgentRow({ presence: { agent, seen, sign } }: { readonly presence: Presence }) {
  const isAway = sign === 'offline' || sign === 'silent';
  return (
    <>
      <th scope="row" class="title">
        <span class="named">
          <Who id={agent.id} isOnlyPicture hasSign />
          <a href={addressOf([PAGES.agent, agent.id])}>
            <UserText text={agent.name} limit={60} />
          </a>
        </span>
      </th>
      <td class={`nowrap ${TONES[sign]}`}>
        {isAway ? fill(text.seen, { sign: text.signs[sign], when: agoText(seen, now.value) }) : text.signs[sign]}
      </td>
      <td>
        <NowOf agent={agent} />
      </td>
      <td
        class="right num"
        data-label={text.doneFailed}>{`${number(agent.tasks_completed)} / ${number(agent.tasks_failed)}`}</td>
    </>
  );
}

/** Tasks that the agent holds, with their leases. */
export function NowOf({ agent }: { readonly agent: Agent }) {
  const [first, ...rest] = Object.keys(agent.held);
  if (first === undefined) return null;
  return (
    <span class="line">
      <Fill
        text={rest.length === 0 ? '{task}' : `{task} ${fill(needsYou.andMore, { n: rest.length })}`}
        with={{ task: <TaskTitle id={first} limit={90} /> }}
      />
      <HeldLease taskId={first} />
    </span>
  );
}
