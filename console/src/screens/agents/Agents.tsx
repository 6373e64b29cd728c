/** Agents of the workspace, with their tasks, and the person's connected apps and API keys. */
import { z } from 'zod/mini';
import { act, callTool } from '../../calls/tools.ts';
import { usePages } from '../../calls/useResponse.ts';
import { type Agent, agentDocument } from '../../live/documents.ts';
import { usePaged } from '../../live/paged.ts';
import { agentsOf } from '../../live/queries.ts';
import { ActionButton } from '../../parts/ActionButton.tsx';
import { headOf, More, MoreOf } from '../../parts/More.tsx';
import { Card, Empty, Shown } from '../../parts/Notice.tsx';
import { PresenceBadge } from '../../parts/PresenceBadge.tsx';
import { Ago } from '../../parts/Status.tsx';
import { UserText } from '../../parts/UserText.tsx';
import { addressOf, workspace } from '../../router.ts';
import { NewKey } from './NewKey.tsx';

const connections = z.object({
  connections: z.array(
    z.object({
      agent_id: z.string(),
      name: z.string(),
      role: z.string(),
      home: z.string(),
      toolsets: z.exactOptional(z.array(z.string())),
      held_to: z.exactOptional(z.string()),
      readonly: z.exactOptional(z.boolean()),
      app: z.exactOptional(z.object({ name: z.string(), host: z.exactOptional(z.string()) })),
      expires_at: z.string(),
      last_seen: z.string(),
    }),
  ),
  ended: z._default(
    z.array(
      z.object({
        agent_id: z.string(),
        name: z.string(),
        app: z.object({ name: z.string() }),
        reason: z.string(),
        ended_at: z.string(),
      }),
    ),
    [],
  ),
  next_cursor: z.exactOptional(z.string()),
});
type Connection = z.output<typeof connections>['connections'][number];
const revoked = z.object({ revoked: z.number() });

type Ended = z.output<typeof connections>['ended'][number];

/** For each reason, the text that explains why a connection ended. */
const ENDS: Readonly<Record<string, string>> = {
  refresh_token_reused:
    'An old refresh token was used: two programs shared the sign-in, or one has stolen it. Sign in again from the app.',
  code_replayed: 'Its code was used twice, so another program may have read it. Sign in again from the app.',
  disconnected: 'The app disconnected itself.',
  revoked: 'The connection was revoked.',
  owner_lost_role: 'You had no role, or your account was disabled.',
  replaced: 'The app was signed in at too many other places.',
  expired: 'It was not used for 90 days, or was a year old. Sign in again from the app.',
};

export function Agents() {
  const agents = usePaged(agentsOf(workspace.value), agentDocument);
  const { live } = agents;
  const mine = usePages(
    'mine',
    (cursor) => callTool('access.list_connections', cursor === undefined ? {} : { cursor }, connections),
    (page) => page.next_cursor,
  );
  const pages = 'value' in mine.live ? mine.live.value : [];
  const number = pages.flatMap((page) => page.connections).length;
  const head = 'value' in mine.live ? (mine.more === undefined ? number : `${number}+`) : undefined;
  const ended = pages.flatMap((page) => page.ended);
  const held = new Map(
    'value' in live ? live.value.rows.map((agent) => [agent.id, Object.keys(agent.held).length]) : [],
  );
  return (
    <>
      <h1>Agents</h1>
      <Card title="At home here" count={headOf(agents)}>
        <Shown live={live}>
          {({ rows }) =>
            rows.length === 0 ? (
              <Empty title="No agent has its home here.">
                <p>An agent appears when it connects and claims a task.</p>
              </Empty>
            ) : (
              <ul class="plain rows">
                {rows.map((agent) => (
                  <li key={agent.id}>
                    <AgentLine agent={agent} />
                  </li>
                ))}
              </ul>
            )
          }
        </Shown>
        <MoreOf what="agents" of={agents} />
      </Card>
      <Card title="Act for you" count={head}>
        <Shown live={mine.live}>
          {(answers) =>
            number === 0 && mine.more === undefined ? (
              <p class="soft">No app and no key acts for you.</p>
            ) : (
              <ul class="plain rows">
                {answers
                  .flatMap((page) => page.connections)
                  .map((one) => (
                    <li key={one.agent_id}>
                      <ConnectionLine connection={one} holds={held.get(one.agent_id) ?? 0} changed={mine.refetch} />
                    </li>
                  ))}
              </ul>
            )
          }
        </Shown>
        <More what="connections" more={mine.more} />
        <NewKey changed={mine.refetch} />
      </Card>
      {ended.length > 0 && (
        <Card title="Ended sign-ins">
          <ul class="plain rows">
            {ended.map((one) => (
              <li key={one.agent_id}>
                <EndedLine ended={one} />
              </li>
            ))}
          </ul>
        </Card>
      )}
    </>
  );
}

function EndedLine({ ended }: { readonly ended: Ended }) {
  return (
    <p>
      <UserText text={ended.name} />{' '}
      <span class="soft">
        of <UserText text={ended.app.name} />, ended <Ago at={new Date(ended.ended_at)} />
      </span>
      . {ENDS[ended.reason] ?? ended.reason}
    </p>
  );
}

export function AgentLine({ agent }: { readonly agent: Agent }) {
  const tasks = Object.keys(agent.held);
  return (
    <>
      <a href={addressOf(['a', agent.id])}>
        <UserText text={agent.name} />
      </a>{' '}
      <span class="tag">{agent.type}</span> <PresenceBadge agent={agent} />
      <p class="soft">
        {tasks.length === 0 ? 'It holds nothing. ' : 'It holds '}
        {tasks.map((id, index) => (
          <span key={id}>
            {index > 0 && ', '}
            <a href={addressOf(['t', id])}>
              <UserText text={id} />
            </a>
          </span>
        ))}
        {tasks.length > 0 && '. '}
        {`${agent.tasks_completed} done, ${agent.tasks_failed} failed.`}
      </p>
    </>
  );
}

interface ConnectionLineProps {
  readonly connection: Connection;
  /** Number of tasks of the workspace that the agent holds. */
  readonly holds: number;
  changed(): void;
}

function ConnectionLine({ connection, holds, changed }: ConnectionLineProps) {
  const { app } = connection;
  const bounds = [
    connection.readonly === true ? 'reads only' : undefined,
    connection.held_to === undefined ? undefined : `only in ${connection.held_to}`,
    connection.toolsets === undefined ? undefined : `only ${connection.toolsets.join(', ')}`,
  ].filter((bound) => bound !== undefined);
  return (
    <>
      <p>
        <UserText text={connection.name} /> <span class="tag">{connection.role}</span>{' '}
        <span class="soft">
          {app === undefined ? 'with a key' : 'an app that calls itself '}
          {app !== undefined && <UserText text={app.name} />}
          {app?.host !== undefined && (
            <>
              {' of '}
              <UserText text={app.host} />
            </>
          )}
          {bounds.length > 0 && `, ${bounds.join(', ')}`}, seen <Ago at={new Date(connection.last_seen)} />, ends{' '}
          <Ago at={new Date(connection.expires_at)} />
        </span>
      </p>
      <ActionButton
        label="Revoke"
        kind="danger"
        consequence={`${connection.name} loses access everywhere within seconds.${
          holds > 0 ? ` Its ${holds} tasks become available when their leases end.` : ''
        } To use it again, connect it again.`}
        act={async () => {
          await act('access.revoke_connection', { agent_id: connection.agent_id }, revoked);
          changed();
        }}
      />
    </>
  );
}
