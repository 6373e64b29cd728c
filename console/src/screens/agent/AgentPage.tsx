/** One agent: what it does now, what it did today, what it may do. */
import { agents as text } from '../../../text/agents.ts';
import { common, roles } from '../../../text/common.ts';
import { shell } from '../../../text/shell.ts';
import { fill } from '../../../ui/format.ts';
import { Icon } from '../../../ui/Icon.tsx';
import { UserText } from '../../../ui/UserText.tsx';
import { type Agent, agentDocument } from '../../live/documents.ts';
import { useLive } from '../../live/live.ts';
import { agent as agentQuery } from '../../live/queries.ts';
import { document } from '../../live/sources.ts';
import { now } from '../../live/time.ts';
import { CopyButton } from '../../parts/Copy.tsx';
import { MessageButton } from '../../parts/Message.tsx';
import { Section } from '../../parts/Notice.tsx';
import { DetailPage } from '../../parts/Page.tsx';
import { usePresence } from '../../parts/presence.ts';
import { At, agoText } from '../../parts/Time.tsx';
import { Name } from '../../parts/Who.tsx';
import { addressOf } from '../../router.ts';
import { NowOf } from '../agents/Agents.tsx';
import { DayOfAgents } from '../agents/DayOfAgents.tsx';
import { Feed } from '../audit/Feed.tsx';

export function AgentPage({ id }: { readonly id: string }) {
  const live = useLive(document(agentQuery(id), agentDocument));
  return (
    <DetailPage
      list={['agents', shell.agents]}
      kind={text.agent}
      live={live}
      titleOf={({ name }) => name}
      actions={() => <MessageButton agentId={id} />}>
      {(agent) => <Whole agent={agent} />}
    </DetailPage>
  );
}

function Whole({ agent }: { readonly agent: Agent }) {
  const [presence] = usePresence([agent]);
  const { sign, seen } = presence ?? { sign: 'offline' as const, seen: agent.last_seen };
  const when = agoText(seen, now.value);
  return (
    <div class="split">
      <div>
        <div class="intro">
          <h1>
            <UserText text={agent.name} />
          </h1>
          <p class="sentence">
            <span>{fill(text.seen, { sign: text.signs[sign], when })}</span>
            <NowOf agent={agent} />
          </p>
          {agent.description !== null && (
            <p class="prose">
              <UserText text={agent.description} limit={1000} links />
            </p>
          )}
        </div>
        <Section title={text.today} isCard>
          <DayOfAgents agents={[agent]} isAlone />
        </Section>
        <Section
          title={text.activity}
          actions={
            <a href={addressOf(['audit'], { agent: agent.id })}>
              <Icon of="audit" small /> {text.viewActivity}
            </a>
          }>
          <Feed asked={{ agent_id: agent.id }} limit={20} empty={text.noActivity} />
        </Section>
      </div>
      <aside class="aside" aria-label={common.properties}>
        <Section title={common.properties}>
          <dl class="facts">
            <dt>{text.role}</dt>
            <dd>
              <span>{fill(text.limitedBy, { role: roles[agent.role] ?? agent.role })}</span>
            </dd>
            <dt>{text.owner}</dt>
            <dd>
              <Name id={agent.owner_uid} />
            </dd>
            <dt>{text.capabilities}</dt>
            <dd>
              {agent.capability_details.length === 0 ? (
                <span class="faint">{text.noneListed}</span>
              ) : (
                agent.capability_details.map(({ name }) => (
                  <span key={name} class="tag">
                    <UserText text={name} limit={40} />
                  </span>
                ))
              )}
            </dd>
            <dt>{text.doneFailed}</dt>
            <dd class="num">{`${agent.tasks_completed} / ${agent.tasks_failed}`}</dd>
            <dt>{text.connected}</dt>
            <dd>
              <At at={agent.registered_at} />
            </dd>
            <dt>{text.id}</dt>
            <dd>
              <code class="faint cut" title={agent.id}>
                <UserText text={agent.id} />
              </code>
              <CopyButton text={agent.id} what={text.id} />
            </dd>
          </dl>
        </Section>
      </aside>
    </div>
  );
}
