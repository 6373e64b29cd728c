/** Calls every access tool once, in a new workspace to which a person is invited. */
import { initializeApp } from 'firebase-admin/app';
import { getAuth } from 'firebase-admin/auth';
import { personToDocument } from '../../functions/src/identity/rules/people.ts';
import { personPath } from '../../functions/src/kernel/firestore/paths.ts';
import { OWNER, type Project } from '../seed.ts';
import type { Cast, Ledger } from './costLedger.ts';

const CYD = { uid: 'cyd', email: 'cyd@example.com', emailVerified: true };
const ADA = { uid: OWNER, email: 'ada@example.com', emailVerified: true };

/** Person who becomes a member. */
const KNOWN = 'person2';

/** Creates accounts for the agents' owner, an invited person and a known one. Returns the first two ID tokens. */
export async function startPeople({ id, firestore }: Project): Promise<{ owner: string; invited: string }> {
  const auth = getAuth(initializeApp({ projectId: id }, id));
  await Promise.all([CYD, ADA, { uid: KNOWN }].map((account) => auth.createUser(account)));
  await firestore.doc(personPath(KNOWN)).set(personToDocument({ role: 'viewer', workspaces: {} }));
  return { owner: idTokenOf(id, ADA), invited: idTokenOf(id, CYD) };
}

/**
 * The Auth emulator signs people in only to its default project, but accepts unsigned tokens for any project.
 * Source: https://firebase.google.com/docs/emulator-suite/connect_auth#id_tokens
 */
function idTokenOf(project: string, { uid, email }: Pick<typeof CYD, 'uid' | 'email'>): string {
  const now = Math.floor(Date.now() / 1000);
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = {
    iss: `https://securetoken.google.com/${project}`,
    aud: project,
    sub: uid,
    auth_time: now,
    iat: now,
    exp: now + 3600,
    email,
    email_verified: true,
    firebase: { identities: {}, sign_in_provider: 'password' },
  };
  return `${part({ alg: 'none', typ: 'JWT' })}.${part(claims)}.`;
}

export async function playAccess({ leader, owner, invited, workerId }: Cast, ledger: Ledger): Promise<void> {
  const call = (tool: string, args: object, situation?: string) =>
    ledger.call(leader, `access.${tool}`, args, situation);
  // The owner makes this call, because only a person can loosen a limit.
  const admin = (tool: string, args: object, situation?: string) =>
    ledger.call(owner, `access.${tool}`, args, situation);
  const workspace = 'apollo';
  await call('whoami', {});
  await admin('create_workspace', { name: workspace });
  await admin('update_workspace', { workspace, repositories: ['sartor-ai/muster'] });
  await admin('invite', { workspace, email: CYD.email, role: 'worker' });
  await ledger.call(invited, 'access.accept_invitation', { workspace }, 'the person has one invitation');
  await admin('set_member', { workspace, uid: KNOWN, role: 'worker' }, 'adds a member');
  await call('set_member', { workspace, uid: KNOWN, role: 'viewer' }, 'changes a member');
  await call('list_members', { workspace }, 'returns three members');
  await call('remove_member', { workspace, uid: KNOWN });
  await call('explain', { tool: 'coordination.create_task' }, 'for the caller, whose call is allowed');
  await call('explain', { tool: 'firebase.read', agent: workerId }, 'for another agent');
  await call('explain', { database: 'firestore', path: 'shared/notes/one/two' }, 'for a database path');
  await call('list_connections', { limit: 2 }, 'returns two connections, and reads one more');
  await call('revoke_connection', { agent_id: workerId });
  await owner.call('access.invite', { workspace, email: 'eve@example.com', role: 'worker' });
  await admin('withdraw_invitation', { workspace, email: 'eve@example.com' });
  const { task } = await leader.call('coordination.create_task', { description: 'Wait' });
  await call('explain', { task: Object(task).id }, 'for a task, with its agents');
}
