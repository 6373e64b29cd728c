/** Members and invitations of the workspace, and the access check. */
import { useSignal } from '@preact/signals';
import { z } from 'zod/mini';
import { act, callTool } from '../../calls/tools.ts';
import { type Pages, usePages } from '../../calls/useResponse.ts';
import { useLive } from '../../live/live.ts';
import { membersOf } from '../../live/queries.ts';
import { count } from '../../live/sources.ts';
import { ActionButton } from '../../parts/ActionButton.tsx';
import { clearSent } from '../../parts/formState.ts';
import { More } from '../../parts/More.tsx';
import { Card, Shown } from '../../parts/Notice.tsx';
import { Ago } from '../../parts/Status.tsx';
import { UserText } from '../../parts/UserText.tsx';
import { workspace } from '../../router.ts';
import { Explain } from './Explain.tsx';
import { ROLES, RoleChoice } from './RoleChoice.tsx';

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
const DONE = z.object({});

export function Access() {
  const here = workspace.value;
  const pages = usePages(
    here,
    (cursor) => callTool('access.list_members', { limit: 100, ...(cursor !== undefined && { cursor }) }, members),
    (page) => page.next_cursor,
  );
  return (
    <>
      <h1>Access</h1>
      <MembersCard pages={pages} here={here} />
      <Explain />
    </>
  );
}

function MembersCard({
  pages: { live, refetch, more },
  here,
}: {
  readonly pages: Pages<Members>;
  readonly here: string;
}) {
  const counted = useLive(more === undefined ? undefined : count(membersOf(here)));
  const loaded = 'value' in live ? live.value.flatMap((page) => page.members).length : undefined;
  const number = 'value' in counted ? counted.value : undefined;
  const head =
    more === undefined || loaded === undefined
      ? loaded
      : number === undefined
        ? `${loaded}+`
        : Math.max(number, loaded + 1);
  return (
    <Card title={`Members of ${here}`} count={head}>
      <Shown live={live}>
        {(answers) => (
          <>
            <p class="soft">
              {answers[0]?.access === 'open'
                ? 'Open: everyone with a deployment role has it here.'
                : 'Private: members only.'}
            </p>
            <ul class="plain rows">
              {answers
                .flatMap((page) => page.members)
                .map((member) => (
                  <li key={member.uid} class="todo">
                    <p>
                      <UserText text={member.name ?? member.email ?? member.uid} />{' '}
                      <span class="soft">
                        since <Ago at={new Date(member.added_at)} />
                      </span>
                    </p>
                    <MemberActs member={member} here={here} changed={refetch} />
                  </li>
                ))}
              {answers
                .flatMap((page) => page.invitations)
                .map((invitation) => (
                  <li key={invitation.email} class="todo">
                    <p>
                      <UserText text={invitation.email} /> is invited as {invitation.role}, until{' '}
                      <Ago at={new Date(invitation.expires_at)} />
                    </p>
                    <ActionButton
                      label="Withdraw"
                      kind="danger"
                      consequence={`${invitation.email} can no longer join ${here} with this invitation.`}
                      act={async () => {
                        await act('access.withdraw_invitation', { email: invitation.email }, DONE);
                        refetch();
                      }}
                    />
                  </li>
                ))}
            </ul>
            <More what="members" more={more} loaded={loaded ?? 0} count={number} />
            <Invite changed={refetch} />
          </>
        )}
      </Shown>
    </Card>
  );
}

interface MemberActsProps {
  readonly member: Members['members'][number];
  readonly here: string;
  changed(): void;
}

function MemberActs({ member, here, changed }: MemberActsProps) {
  const role = useSignal<string>(member.role);
  const name = member.name ?? member.email ?? member.uid;
  return (
    <div class="acts">
      <RoleChoice label={`Role of ${name}`} role={role} />
      <ActionButton
        label="Give this role"
        disabled={role.value === member.role}
        act={async () => {
          await act('access.set_member', { uid: member.uid, role: role.value }, DONE);
          changed();
        }}
      />
      <ActionButton
        label="Remove"
        kind="danger"
        consequence={`${name} leaves ${here}, and all their agents with them, within seconds.`}
        act={async () => {
          await act('access.remove_member', { uid: member.uid }, DONE);
          changed();
        }}
      />
    </div>
  );
}

function Invite({ changed }: { changed(): void }) {
  const email = useSignal('');
  const role = useSignal<string>('worker');
  return (
    <div class="write">
      <label>
        Invite by e-mail
        <input type="email" value={email.value} onInput={(event) => (email.value = event.currentTarget.value)} />
      </label>
      <RoleChoice label="As" role={role} />
      <ActionButton
        label="Invite"
        disabled={!email.value.includes('@')}
        act={async () => {
          const sent = email.value;
          await act('access.invite', { email: sent.trim(), role: role.value }, DONE);
          clearSent(sent, email, '');
          changed();
        }}
      />
    </div>
  );
}
