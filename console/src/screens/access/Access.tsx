/** People in the workspace, agents and apps that act for the person, what is asked and proven, and why something is refused. */
import { z } from 'zod/mini';
import { access as text } from '../../../text/access.ts';
import { common, roles } from '../../../text/common.ts';
import { shell } from '../../../text/shell.ts';
import { Avatar } from '../../../ui/Avatar.tsx';
import { fill } from '../../../ui/format.ts';
import { Icon } from '../../../ui/Icon.tsx';
import { Menu } from '../../../ui/Menu.tsx';
import { UserText } from '../../../ui/UserText.tsx';
import { act, callTool } from '../../calls/tools.ts';
import { type Pages, usePages } from '../../calls/useResponse.ts';
import { useLive } from '../../live/live.ts';
import { membersOf } from '../../live/queries.ts';
import { count } from '../../live/sources.ts';
import { ActionSelect } from '../../parts/ActionFields.tsx';
import { ActionButton, ActionEntry, tell } from '../../parts/acting.tsx';
import { Bones } from '../../parts/Bones.tsx';
import { More } from '../../parts/More.tsx';
import { Near } from '../../parts/Near.tsx';
import { Section, Shown } from '../../parts/Notice.tsx';
import { Page } from '../../parts/Page.tsx';
import { Ago, At } from '../../parts/Time.tsx';
import { workspace } from '../../router.ts';
import type { Person } from '../../session/session.ts';
import { mayAs } from '../../shell/role.ts';
import { Approvals } from './Approvals.tsx';
import { Connections } from './Connections.tsx';
import { Explain } from './Explain.tsx';
import { Invite } from './Invite.tsx';
import { ProofSettings } from './ProofSettings.tsx';
import { ROLE_OPTIONS, ROLES } from './roles.ts';

const members = z.object({
  access: z.string(),
  members: z.array(
    z.object({
      uid: z.string(),
      role: z.enum(ROLES),
      name: z.exactOptional(z.string()),
      email: z.exactOptional(z.string()),
      added_at: z.string(),
    }),
  ),
  invitations: z._default(z.array(z.object({ email: z.string(), role: z.string(), expires_at: z.string() })), []),
  next_cursor: z.exactOptional(z.string()),
});
type Members = z.output<typeof members>;
type Member = Members['members'][number];
type Invitation = Members['invitations'][number];
const DONE = z.object({});

export function Access({ person }: { readonly person: Person }) {
  const here = workspace.value;
  const pages = usePages(
    here,
    (cursor) => callTool('access.list_members', { limit: 100, ...(cursor !== undefined && { cursor }) }, members),
    (page) => page.next_cursor,
  );
  return (
    <Page title={shell.access} actions={mayAs('leader') && <Invite here={here} changed={pages.refetch} />}>
      <MembersSection pages={pages} here={here} person={person} />
      <Connections />
      <Approvals here={here} />
      <ProofSettings here={here} />
      <Explain />
    </Page>
  );
}

interface MembersSectionProps {
  readonly pages: Pages<Members>;
  readonly here: string;
  readonly person: Person;
}

function MembersSection({ pages: { live, refetch, more }, here, person }: MembersSectionProps) {
  const counted = useLive(more === undefined ? undefined : count(membersOf(here)));
  const answers = 'value' in live ? live.value : [];
  const all = answers.flatMap((page) => page.members);
  const invitations = answers.flatMap((page) => page.invitations);
  const number = 'value' in counted ? counted.value : undefined;
  const head =
    more === undefined ? all.length : number === undefined ? `${all.length}+` : Math.max(number, all.length + 1);
  const isOpen = answers[0]?.access === 'open';
  return (
    <Section title={text.members} count={answers.length === 0 ? undefined : head}>
      <Shown live={live} what={text.members.toLowerCase()} bones={<Bones lines={4} />}>
        {() => (
          <>
            <p class="hint">{fill(isOpen ? text.open : text.private, { workspace: here })}</p>
            <ul class={all.length + invitations.length === 0 ? '' : 'card rows'}>
              {all.map((member) => (
                <MemberRow
                  key={member.uid}
                  member={member}
                  here={here}
                  isOwn={member.uid === person.uid}
                  changed={refetch}
                />
              ))}
              {invitations.map((invitation) => (
                <InvitationRow key={invitation.email} invitation={invitation} here={here} changed={refetch} />
              ))}
            </ul>
          </>
        )}
      </Shown>
      <More what={text.members.toLowerCase()} more={more} loaded={all.length} count={number} />
    </Section>
  );
}

interface MemberRowProps {
  readonly member: Member;
  readonly here: string;
  readonly isOwn: boolean;
  changed(): void;
}

function MemberRow({ member, here, isOwn, changed }: MemberRowProps) {
  const { uid, role, added_at } = member;
  const name = member.name ?? member.email ?? uid;
  const give = (given: string) => act('access.set_member', { uid, role: given }, DONE).then(changed);
  return (
    <Near class="row" height={60}>
      <Avatar name={name} id={uid} isPerson large />
      <div class="grow">
        <p class="line">
          <b>
            <UserText text={name} limit={80} />
          </b>
          {isOwn && <span class="tag">{common.you}</span>}
        </p>
        <p class="meta">
          {member.email !== undefined && member.email !== name && (
            <span>
              <UserText text={member.email} limit={80} />
            </span>
          )}
          <span>
            {`${text.joined} `}
            <At at={new Date(added_at)} />
          </span>
        </p>
      </div>
      {mayAs('leader') ? (
        <>
          <ActionSelect
            aria-label={fill(text.roleOf, { name })}
            value={role}
            options={ROLE_OPTIONS}
            act={async (given) => {
              await give(given);
              tell(fill(text.isNow, { name, role: (roles[given] ?? given).toLowerCase() }), () => give(role));
            }}
          />
          <Menu label={fill(common.actionsFor, { title: name })} button="b quiet only small">
            <ActionEntry
              icon="leave"
              kind="danger"
              label={text.remove}
              confirm={{
                title: fill(text.removeTitle, { name, workspace: here }),
                text: text.removeHint,
                keep: fill(text.keepMember, { name }),
              }}
              act={async () => {
                await act('access.remove_member', { uid }, DONE);
                changed();
              }}
            />
          </Menu>
        </>
      ) : (
        <span class="soft">{roles[role]}</span>
      )}
    </Near>
  );
}

interface InvitationRowProps {
  readonly invitation: Invitation;
  readonly here: string;
  changed(): void;
}

function InvitationRow({ invitation: { email, role, expires_at }, here, changed }: InvitationRowProps) {
  return (
    <li class="row">
      <span class="tile-i">
        <Icon of="mail" />
      </span>
      <div class="grow">
        <p>
          <UserText text={email} limit={100} />
        </p>
        <p class="meta">
          <span>{text.invited}</span>
          <span>
            {`${text.expires} `}
            <Ago at={new Date(expires_at)} />
          </span>
        </p>
      </div>
      <span class="soft">{roles[role] ?? role}</span>
      {mayAs('leader') && (
        <ActionButton
          small
          kind="quiet"
          label={text.withdraw}
          done={fill(text.withdrawn, { email })}
          act={async () => {
            await act('access.withdraw_invitation', { email }, DONE);
            changed();
          }}
          undo={async () => {
            await act('access.invite', { email, role, workspace: here }, DONE);
            changed();
          }}
        />
      )}
    </li>
  );
}
