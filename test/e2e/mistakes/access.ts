/** Mistakes that concern members, workspaces, invitations and connections. */
import { isRecord } from '../support/clients.ts';
import type { MistakesFixture } from './fixture.ts';
import type { Mistake } from './mistake.ts';

const asking = (tool: string, args: object) => (fixture: MistakesFixture) => fixture.call(`access_${tool}`, args);

async function onlyLeader(fixture: MistakesFixture): Promise<string> {
  const { members } = await fixture.made('access_list_members');
  const [only] = Array.isArray(members) ? members : [];
  return isRecord(only) ? String(only['uid']) : '';
}

export const accessMistakes: readonly Mistake[] = [
  {
    who: 'invites as a worker',
    make: (fixture) =>
      fixture.call('access_invite', { email: 'eve@example.com', role: 'viewer' }, { by: fixture.worker }),
    happened: /requires the role leader; yours is worker/,
    where: /access_invite/,
    next: /role leader.*access_explain/,
  },
  {
    who: 'names an unknown workspace',
    make: asking('list_members', { workspace: 'nowhere-at-all' }),
    happened: /no role/,
    where: /nowhere-at-all/,
    next: /access_whoami/,
  },
  {
    who: 'creates a workspace with a name in use',
    make: asking('create_workspace', { name: 'default' }),
    happened: /not available/,
    where: /name \\?"default/,
    next: /Choose another name/,
  },
  {
    who: 'invites a person without an email address',
    make: asking('invite', { email: 'eve', role: 'viewer' }),
    happened: /email address/,
    where: /email/,
    next: /expected an email address/,
  },
  {
    who: 'assigns an unknown role',
    make: asking('set_member', { uid: 'eve', role: 'owner' }),
    happened: /expected one of/,
    where: /role/,
    next: /viewer.*worker.*leader/,
  },
  {
    who: 'pins and forbids an agent',
    make: asking('update_workspace', { routing: { pin: { review: 'claude' }, forbid: ['claude'] } }),
    happened: /pinned for review and forbidden/,
    where: /routing\.pin/,
    next: /both pin and forbid/,
  },
  {
    who: 'assigns a role without naming a person',
    make: asking('set_member', { role: 'viewer' }),
    happened: /either uid or email/,
    where: /"field":"uid"/,
    next: /access_list_members/,
  },
  {
    who: 'removes a person who is not a member',
    make: asking('remove_member', { uid: 'eve' }),
    happened: /is not a member/,
    where: /eve/,
    next: /access_list_members/,
  },
  {
    who: 'removes the last leader',
    make: async (fixture) => fixture.call('access_remove_member', { uid: await onlyLeader(fixture) }),
    happened: /without a leader/,
    where: /"field":"uid"/,
    next: /Make another member a leader first/,
  },
  {
    who: 'revokes an unknown connection',
    make: asking('revoke_connection', { agent_id: 'ghost' }),
    happened: /agent .{0,2}ghost.{0,2} does not exist/,
    where: /agent_id/,
    next: /access_list_connections/,
  },
  {
    who: 'lists a repository by its URL',
    make: asking('update_workspace', { repositories: ['https://github.com/sartor-ai/muster'] }),
    happened: /expected/,
    where: /repositories\.0/,
    next: /owner\/name/,
  },
  {
    who: 'asks for an explanation without a subject',
    make: asking('explain', {}),
    happened: /either a tool, or a database and a path/,
    where: /"field":"database"/,
    next: /For example/,
  },
];
