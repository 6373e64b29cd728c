/** Agents, apps and keys that act for the person: what each may do, and when it was used last. */
import { z } from 'zod/mini';
import { access as text } from '../../../text/access.ts';
import { common, roles } from '../../../text/common.ts';
import { Avatar } from '../../../ui/Avatar.tsx';
import { fill } from '../../../ui/format.ts';
import { Icon } from '../../../ui/Icon.tsx';
import { Entry, Menu } from '../../../ui/Menu.tsx';
import { UserText } from '../../../ui/UserText.tsx';
import { act, callTool } from '../../calls/tools.ts';
import { usePages } from '../../calls/useResponse.ts';
import { ActionEntry } from '../../parts/acting.tsx';
import { More } from '../../parts/More.tsx';
import { Near } from '../../parts/Near.tsx';
import { Empty, Section, Shown } from '../../parts/Notice.tsx';
import { Ago } from '../../parts/Time.tsx';
import { addressOf } from '../../router.ts';
import { PAGES } from '../../shell/screens.ts';
import { ConnectAgent } from '../agents/ConnectAgent.tsx';

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

export function Connections() {
  const { live, refetch, more } = usePages(
    'mine',
    (cursor) => callTool('access.list_connections', cursor === undefined ? {} : { cursor }, connections),
    (page) => page.next_cursor,
  );
  const pages = 'value' in live ? live.value : [];
  const all = pages.flatMap((page) => page.connections);
  const ended = pages.flatMap((page) => page.ended);
  const head = pages.length === 0 ? undefined : more === undefined ? all.length : `${all.length}+`;
  return (
    <Section title={text.connections} count={head} actions={<ConnectAgent changed={refetch} />}>
      <Shown live={live} what={text.connections.toLowerCase()}>
        {() =>
          all.length === 0 && more === undefined ? (
            <div class="card">
              <Empty icon="agent" title={text.noConnections} />
            </div>
          ) : (
            <ul class="card rows">
              {all.map((one) => (
                <ConnectionRow key={one.agent_id} connection={one} changed={refetch} />
              ))}
            </ul>
          )
        }
      </Shown>
      <More what={text.connections.toLowerCase()} more={more} />
      {ended.length > 0 && (
        <details>
          <summary class="b quiet small">
            <Icon of="down" small />
            {text.ended}
          </summary>
          <ul class="card rows">
            {ended.map((one) => (
              <li key={one.agent_id} class="row">
                <div class="grow">
                  <p class="line">
                    <b>
                      <UserText text={one.name} limit={80} />
                    </b>
                    <span class="faint">
                      <UserText text={one.app.name} limit={80} />
                    </span>
                  </p>
                  <p class="soft">{text.ends[one.reason] ?? one.reason}</p>
                </div>
                <span class="faint nowrap">
                  <Ago at={new Date(one.ended_at)} />
                </span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </Section>
  );
}

interface ConnectionRowProps {
  readonly connection: Connection;
  changed(): void;
}

function ConnectionRow({ connection, changed }: ConnectionRowProps) {
  const { agent_id: id, name, role, app, toolsets, held_to: only } = connection;
  const limits = [
    roles[role] ?? role,
    connection.readonly === true ? text.readOnly : undefined,
    only === undefined ? undefined : fill(text.only, { what: only }),
    toolsets === undefined ? undefined : fill(text.only, { what: toolsets.join(', ') }),
  ].filter((one) => one !== undefined);
  const origin =
    app === undefined ? text.apiKey : app.host === undefined ? text.unverified : fill(text.appFrom, { host: app.host });
  return (
    <Near class="row" height={60}>
      <Avatar name={name} id={id} large />
      <div class="grow">
        <p class="line">
          <a href={addressOf([PAGES.agent, id])}>
            <b>
              <UserText text={name} limit={80} />
            </b>
          </a>
          <span class={app !== undefined && app.host === undefined ? 'tag wait' : 'tag'}>
            <UserText text={origin} limit={80} />
          </span>
          {app !== undefined && app.name !== name && (
            <span class="faint">
              <UserText text={app.name} limit={60} />
            </span>
          )}
        </p>
        <p class="meta">
          <span>{limits.join('; ')}</span>
          <span>
            {`${text.used} `}
            <Ago at={new Date(connection.last_seen)} />
          </span>
          <span>
            {`${text.expires} `}
            <Ago at={new Date(connection.expires_at)} />
          </span>
        </p>
      </div>
      <Menu label={fill(common.actionsFor, { title: name })} button="b quiet only small">
        <Entry icon="audit" label={text.viewActivity} href={addressOf(['audit'], { agent: id })} />
        <hr />
        <ActionEntry
          icon="lock"
          kind="danger"
          label={text.revoke}
          confirm={{
            title: fill(text.revokeTitle, { name }),
            text: text.revokeHint,
            keep: fill(text.keepMember, { name }),
          }}
          act={async () => {
            await act('access.revoke_connection', { agent_id: id }, z.object({}));
            changed();
          }}
        />
      </Menu>
    </Near>
  );
}
