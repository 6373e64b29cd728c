/**
 * Fixture for the examples of the access tools. It has a workspace with the team's owner as leader and person2 as
 * member, a credential of terminal-2 and an invitation of Cyd. It has no workspace apollo.
 */
import { FieldValue } from '@google-cloud/firestore';
import { invitationId } from '../../../functions/src/access/rules/invitations.ts';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import type { MemberRole } from '../../../functions/src/identity/rules/role.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { credentialPath, WORKSPACE_ACCESS_PATH, workspacePath } from '../../../functions/src/kernel/firestore/paths.ts';
import { systemHashing } from '../../../functions/src/kernel/platform.ts';
import { personOf } from '../../support/principals.ts';
import type { Team } from '../coordination/team.ts';

const [NEW, CREDENTIAL, CYD] = ['apollo', 'mk_examples', 'cyd@example.com'];

/** Returns who calls the example of a tool: the team's leader, or a person if only people may call the tool. */
export function callerOfExample(team: Team, tool: string): Principal {
  if (['answer', 'invite', 'set_member', 'create_workspace', 'update_workspace'].includes(tool)) {
    const { owner_uid: ownerUid, owner } = team.leader;
    return { uid: ownerUid, kind: 'person', owner_uid: ownerUid, maxRole: 'admin', owner };
  }
  return tool === 'accept_invitation' ? { ...personOf('cyd', undefined), email: CYD } : team.leader;
}

export async function setAccess({ app, workspace, leader, now }: Team): Promise<void> {
  const member = (uid: string, role: MemberRole) => ({ uid, workspace, role, added_by: 'ada', added_at: now });
  const expiresAt = new Date(now.getTime() + 3_600_000);
  const inviting = { workspace, email: CYD, role: 'worker', invited_by: leader.owner_uid } as const;
  await app.kernel.store.commit([
    { kind: 'nameWorkspace', workspace, access: 'private' },
    { kind: 'setMember', member: member(leader.owner_uid, 'leader') },
    {
      kind: 'invite',
      invitation: {
        id: invitationId(systemHashing, workspace, CYD),
        ...inviting,
        created_at: now,
        expires_at: expiresAt,
      },
    },
    {
      kind: 'issueCredential',
      credential: {
        api_key: CREDENTIAL,
        secret_hash: 'a-digest',
        agent_id: 'terminal-2',
        created_at: now,
        expires_at: expiresAt,
        ancestors: [],
      },
    },
  ]);
  await app.kernel.store.commit([{ kind: 'setMember', member: member('person2', 'worker') }]);
}

/** Deletes the fixture, because every test uses the same ids. */
export async function clearAccess(): Promise<void> {
  const database = firestore();
  const invitations = await database.collection('invitations').where('email', '==', CYD).get();
  const batch = database.batch();
  for (const { ref } of invitations.docs) batch.delete(ref);
  batch.delete(database.doc(credentialPath(CREDENTIAL)));
  batch.set(database.doc(WORKSPACE_ACCESS_PATH), { access: { [NEW]: FieldValue.delete() } }, { merge: true });
  await batch.commit();
  await database.recursiveDelete(database.doc(workspacePath(NEW)));
}
