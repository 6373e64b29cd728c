/** First page: questions for the person, progress towards the goal, and active agents. */
import { type SessionScope, useBlockedTasks, useCounts, useSession, useSessionId } from '../../live/coordination.ts';
import { agentDocument, discoveryDocument, type Request, requestDocument } from '../../live/documents.ts';
import { usePaged } from '../../live/paged.ts';
import { agentsOf, discoveriesOf, requestsTo } from '../../live/queries.ts';
import { headOf, MoreOf } from '../../parts/More.tsx';
import { Absent, Card, Empty, Shown } from '../../parts/Notice.tsx';
import { PresenceBadge } from '../../parts/PresenceBadge.tsx';
import { Ago } from '../../parts/Status.tsx';
import { UserText } from '../../parts/UserText.tsx';
import { addressOf, DEFAULT_WORKSPACE, workspace } from '../../router.ts';
import { connection, type Person } from '../../session/session.ts';
import { Question } from './Question.tsx';
import { Trouble } from './Trouble.tsx';

export function NeedsYou({ person }: { readonly person: Person }) {
  const here = workspace.value;
  const sessionId = useSessionId(here);
  const id = 'value' in sessionId ? sessionId.value : undefined;
  const where = { here, session: id };
  const questions = usePaged(requestsTo(person.uid), requestDocument);
  const hasNoSession = 'value' in sessionId && id === undefined;
  return (
    <>
      <h1>Needs you</h1>
      <Card title="Questions" count={headOf(questions)}>
        <Shown live={questions.live}>
          {({ rows }) =>
            rows.length === 0 ? (
              <p class="soft">No pending questions.</p>
            ) : (
              <ul class="plain">
                {rows.map((request: Request) => (
                  <li key={request.id}>
                    <Question request={request} />
                  </li>
                ))}
              </ul>
            )
          }
        </Shown>
        <MoreOf what="questions" of={questions} />
      </Card>
      {hasNoSession ? (
        <NoGoal here={here} />
      ) : 'value' in sessionId ? (
        <>
          <Trouble where={where} />
          <Goal where={where} />
        </>
      ) : (
        <Absent live={sessionId} />
      )}
      <OnlineAgents here={here} />
      {id !== undefined && <Discoveries here={here} session={id} />}
    </>
  );
}

function NoGoal({ here }: { readonly here: string }) {
  const { address } = connection().deployment;
  // A shell would expand the question mark.
  const url = here === DEFAULT_WORKSPACE ? address : `"${address}?workspace=${here}"`;
  return (
    <Card title="The goal">
      <Empty title="This workspace has no goal yet.">
        <p>Connect an agent, and tell it what you want to reach:</p>
        <p>
          <code>{`claude mcp add --transport http muster ${url}`}</code>
        </p>
      </Empty>
    </Card>
  );
}

function Goal({ where }: { readonly where: SessionScope }) {
  const live = useSession(where);
  const counts = useCounts(where);
  const { count: blocked = 0 } = useBlockedTasks(where);
  return (
    <Card title="The goal">
      <Shown live={live}>
        {(value) => (
          <p class="goal">
            <UserText text={value?.goal || 'No goal yet. Set one with init_coordination.'} />
          </p>
        )}
      </Shown>
      <Shown live={counts}>{(value) => <Progress counts={withBlocked(value, blocked)} />}</Shown>
    </Card>
  );
}

const SHOWN_STATES = [
  'done',
  'in_progress',
  'claimed',
  'waiting',
  'available',
  'blocked',
  'failed',
  'cancelled',
] as const;

/** Separates blocked tasks, which the counters of the session count as available. */
function withBlocked(counts: Readonly<Record<string, number>>, blocked: number) {
  return { ...counts, blocked, available: Math.max(0, (counts['available'] ?? 0) - blocked) };
}

function Progress({ counts }: { readonly counts: Readonly<Record<string, number>> }) {
  const whole = SHOWN_STATES.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
  if (whole === 0) return <p class="soft">No tasks yet.</p>;
  return (
    <>
      <div class="bar" aria-hidden="true">
        {SHOWN_STATES.map((state) => (
          <span key={state} class={state} style={{ flexGrow: String(counts[state] ?? 0) }} />
        ))}
      </div>
      <p>
        <a href={addressOf(['tasks'])}>{`${counts['done'] ?? 0} of ${whole} tasks done`}</a>
        <span class="soft">
          {SHOWN_STATES.slice(1)
            .filter((state) => (counts[state] ?? 0) > 0)
            .map((state) => ` · ${counts[state]} ${state.replace('_', ' ')}`)
            .join('')}
        </span>
      </p>
    </>
  );
}

function OnlineAgents({ here }: { readonly here: string }) {
  const agents = usePaged(agentsOf(here), agentDocument);
  return (
    <Card title="Agents" count={headOf(agents)}>
      <Shown live={agents.live}>
        {({ rows }) =>
          rows.length === 0 ? (
            <p class="soft">No agent has its home here.</p>
          ) : (
            <ul class="plain rows">
              {rows.map((agent) => (
                <li key={agent.id}>
                  <UserText text={agent.name} /> <PresenceBadge agent={agent} />
                  {Object.keys(agent.held).map((taskId) => (
                    <span key={taskId}>
                      {' '}
                      · <a href={addressOf(['t', taskId])}>{taskId}</a>
                    </span>
                  ))}
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
      <MoreOf what="agents" of={agents} />
    </Card>
  );
}

/** Findings of the agents. They show how the agents understand their work. */
function Discoveries({ here, session }: { readonly here: string; readonly session: string }) {
  const found = usePaged(discoveriesOf(here, session), discoveryDocument);
  const { live } = found;
  if ('value' in live && live.value.rows.length === 0) return null;
  return (
    <Card title="Found out" count={headOf(found)}>
      <Shown live={live}>
        {({ rows }) => (
          <ul class="plain rows">
            {rows.map((one) => (
              <li key={one.id}>
                <UserText text={one.content} limit={300} />
                <p class="soft">
                  <a href={addressOf(['a', one.agent_id])}>
                    <UserText text={one.agent_id} />
                  </a>
                  , <Ago at={one.created_at} />
                  {one.tags.map((tag) => (
                    <span key={tag} class="tag">
                      <UserText text={tag} limit={40} />
                    </span>
                  ))}
                </p>
              </li>
            ))}
          </ul>
        )}
      </Shown>
      <MoreOf what="discoveries" of={found} />
    </Card>
  );
}
