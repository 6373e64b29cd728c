/** Mistakes that concern members, workspaces, invitations and connections. */
import { isRecord } from '../support/clients.ts';
import type { MistakesFixture } from './fixture.ts';
import { type Mistake, mistake } from './mistake.ts';

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
  mistake('names an unknown workspace', asking('list_members', { workspace: 'nowhere-at-all' }), {
    happened: /no role/,
    where: /nowhere-at-all/,
    next: /access_whoami/,
  }),
  mistake('creates a workspace with a name in use', asking('create_workspace', { name: 'default' }), {
    happened: /not available/,
    where: /name \\?"default/,
    next: /Choose another name/,
  }),
  mistake('invites a person without an email address', asking('invite', { email: 'eve', role: 'viewer' }), {
    happened: /email address/,
    where: /email/,
    next: /expected an email address/,
  }),
  mistake('assigns an unknown role', asking('set_member', { uid: 'eve', role: 'owner' }), {
    happened: /expected one of/,
    where: /role/,
    next: /viewer.*worker.*leader/,
  }),
  mistake(
    'pins and forbids an agent',
    asking('update_workspace', { routing: { pin: { review: 'claude' }, forbid: ['claude'] } }),
    { happened: /pinned for review and forbidden/, where: /routing\.pin/, next: /both pin and forbid/ },
  ),
  mistake('assigns a role without naming a person', asking('set_member', { role: 'viewer' }), {
    happened: /either uid or email/,
    where: /"field":"uid"/,
    next: /access_list_members/,
  }),
  mistake('removes a person who is not a member', asking('remove_member', { uid: 'eve' }), {
    happened: /is not a member/,
    where: /eve/,
    next: /access_list_members/,
  }),
  mistake(
    'removes the last leader',
    async (fixture) => fixture.call('access_remove_member', { uid: await onlyLeader(fixture) }),
    { happened: /without a leader/, where: /"field":"uid"/, next: /Make another member a leader first/ },
  ),
  mistake('revokes an unknown connection', asking('revoke_connection', { agent_id: 'ghost' }), {
    happened: /agent .{0,2}ghost.{0,2} does not exist/,
    where: /agent_id/,
    next: /access_list_connections/,
  }),
  mistake(
    'lists a repository by its URL',
    asking('update_workspace', { repositories: ['https://github.com/sartor-ai/muster'] }),
    { happened: /expected/, where: /repositories\.0/, next: /owner\/name/ },
  ),
  mistake('asks for an explanation without a subject', asking('explain', {}), {
    happened: /either a tool, a task, a run, or a database and a path/,
    where: /"field":"database"/,
    next: /For example/,
  }),
];
