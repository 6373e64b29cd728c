/** First page: the questions and failures that wait for the person, the goal, the agents, and the latest events. */
import { needsYou as text } from '../../../text/needsYou.ts';
import { shell } from '../../../text/shell.ts';
import { longDayOf } from '../../../ui/format.ts';
import { Icon } from '../../../ui/Icon.tsx';
import { UserText } from '../../../ui/UserText.tsx';
import { type SessionScope, useCounts, useOpenParts, useSessionId } from '../../live/coordination.ts';
import { discoveryDocument } from '../../live/documents.ts';
import { usePaged } from '../../live/paged.ts';
import { discoveriesOf } from '../../live/queries.ts';
import { rowsOf } from '../../live/states.ts';
import { now } from '../../live/time.ts';
import { lazy } from '../../parts/lazy.tsx';
import { headOf, MoreOf } from '../../parts/More.tsx';
import { Absent, Section, Shown } from '../../parts/Notice.tsx';
import { Page } from '../../parts/Page.tsx';
import { Ago } from '../../parts/Time.tsx';
import { Name } from '../../parts/Who.tsx';
import { workspace } from '../../router.ts';
import type { Person } from '../../session/session.ts';
import type { Waiting } from '../../shell/useWaiting.ts';
import { Goal, NoGoal } from './Goal.tsx';
import { OnlineAgents } from './OnlineAgents.tsx';
import { Queue } from './Queue.tsx';

const Activity = lazy(async () => (await import('./Activity.tsx')).Activity);
const History = lazy(async () => (await import('./History.tsx')).History);
const EarlierGoals = lazy(async () => (await import('./EarlierGoals.tsx')).EarlierGoals);

interface NeedsYouProps {
  readonly person: Person;
  readonly waiting: Waiting;
}

export function NeedsYou({ person, waiting }: NeedsYouProps) {
  const here = workspace.value;
  const sessionId = useSessionId(here);
  const where = { here, session: 'value' in sessionId ? sessionId.value : undefined };
  return (
    <Page title={shell.needsYou} actions={<span class="soft">{longDayOf(new Date(now.value))}</span>}>
      {!('value' in sessionId) ? (
        <Absent live={sessionId} what={text.goal.toLowerCase()} />
      ) : where.session === undefined ? (
        <NoGoal here={here} />
      ) : (
        <Goal where={where} />
      )}
      <div class="split">
        <div>
          <Queue where={where} waiting={waiting} />
          <History uid={person.uid} here={here} />
          <Activity person={person} version={useChanges(where)} />
        </div>
        <div>
          <OnlineAgents here={here} />
          <Discoveries where={where} />
          <EarlierGoals here={here} />
        </div>
      </div>
    </Page>
  );
}

/** Text that differs after a change of a task that is counted or held. */
function useChanges(where: SessionScope): string {
  const held = rowsOf(useOpenParts(where).held).map(({ id, status }) => [id, status]);
  return JSON.stringify([useCounts(where), held]);
}

/** Findings of the agents. They show how the agents understand their work. */
function Discoveries({ where: { here, session } }: { readonly where: SessionScope }) {
  const found = usePaged(session === undefined ? undefined : discoveriesOf(here, session), discoveryDocument);
  const { live } = found;
  if (!('value' in live) || live.value.rows.length === 0) return null;
  return (
    <Section title={text.discoveries} count={headOf(found)}>
      <Shown live={live} what={text.discoveries.toLowerCase()}>
        {({ rows }) => (
          <ul class="card rows">
            {rows.map((one) => (
              <li key={one.id} class="row top-line">
                <Icon of="bulb" class="wait" />
                <div class="grow">
                  <p>
                    <UserText text={one.content} limit={300} />
                  </p>
                  <p class="meta">
                    <span>
                      <Name id={one.agent_id} />
                    </span>
                    <Ago at={one.created_at} />
                    {one.tags.map((tag) => (
                      <span key={tag} class="tag">
                        <UserText text={tag} limit={40} />
                      </span>
                    ))}
                  </p>
                </div>
              </li>
            ))}
          </ul>
        )}
      </Shown>
      <MoreOf what={text.discoveries.toLowerCase()} of={found} />
    </Section>
  );
}
