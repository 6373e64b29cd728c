/** One call of every tool of access: in a workspace that is made for it, to which somebody is invited. */
import { initializeApp } from 'firebase-admin/app';
import { getAuth } from 'firebase-admin/auth';
import { personToDocument } from '../../functions/src/access/store/people.ts';
import { personPath } from '../../functions/src/kernel/firestore/paths.ts';
import type { Project } from '../seed.ts';
import type { Cast, Ledger } from './costScenario.ts';

const CYD = { uid: 'cyd', email: 'cyd@example.com', emailVerified: true };

/** A member to be. */
const KNOWN = 'person2';

/** Makes the account of somebody who is invited, and gives the ID token with which they call. */
export async function startInvited({ id, firestore }: Project): Promise<string> {
  await getAuth(initializeApp({ projectId: id }, 'cost')).createUser(CYD);
  await firestore.doc(personPath(KNOWN)).set(personToDocument({ role: 'viewer', workspaces: {} }));
  return idTokenOf(id);
}

/**
 * The Auth emulator signs people in to its own project alone, and takes tokens that nobody has signed.
 * Source: https://firebase.google.com/docs/emulator-suite/connect_auth#id_tokens
 */
function idTokenOf(project: string): string {
  const now = Math.floor(Date.now() / 1000);
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = {
    iss: `https://securetoken.google.com/${project}`,
    aud: project,
    sub: CYD.uid,
    auth_time: now,
    iat: now,
    exp: now + 3600,
    email: CYD.email,
    email_verified: true,
    firebase: { identities: {}, sign_in_provider: 'password' },
  };
  return `${part({ alg: 'none', typ: 'JWT' })}.${part(claims)}.`;
}

export async function playAccess({ leader, invited, workerId }: Cast, ledger: Ledger): Promise<void> {
  const call = (tool: string, args: object, situation?: string) =>
    ledger.call(leader, `access.${tool}`, args, situation);
  const workspace = 'apollo';
  await call('whoami', {});
  await call('create_workspace', { name: workspace });
  await call('update_workspace', { workspace, repositories: ['sartor-ai/muster'] });
  await call('invite', { workspace, email: CYD.email, role: 'worker' });
  await ledger.call(invited, 'access.accept_invitation', { workspace }, 'one is open');
  await call('set_member', { workspace, uid: KNOWN, role: 'worker' }, 'a new member');
  await call('set_member', { workspace, uid: KNOWN, role: 'viewer' }, 'a member');
  await call('list_members', { workspace }, 'three members');
  await call('remove_member', { workspace, uid: KNOWN });
  await call('explain', { tool: 'coordination.create_task' }, 'it is allowed');
  await call('explain', { tool: 'firebase.read', agent: workerId }, 'of another agent');
  await call('explain', { database: 'firestore', path: 'shared/notes/one/two' }, 'a path');
  await call('list_connections', { limit: 2 }, 'two, and one more');
  await call('revoke_connection', { agent_id: workerId });
}
