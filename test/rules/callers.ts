/** Callers of every kind: their stored state, the claims of their ID tokens, and their principal on the server. */
import { type AccessQuestion, decideAccess, type Subject } from '../../functions/src/access/rules/decision.ts';
import { claimsOf } from '../../functions/src/access/store/idTokens.ts';
import type { Person } from '../../functions/src/identity/rules/people.ts';
import { agentUid, type PersonRoles, type Principal } from '../../functions/src/identity/rules/principal.ts';
import { ROLES, type Role } from '../../functions/src/identity/rules/role.ts';
import { IS_NIGHTLY } from '../support/nightly.ts';
import { ACCESS, type PersonAccess, personOf } from './fixture.ts';

export interface Caller {
  readonly name: string;
  readonly uid?: string;
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Undefined if the caller is not signed in. */
  readonly principal?: Principal;
  /** The stored document of the person whose roles apply: the caller, or the owner of the calling agent. */
  readonly stored?: { readonly uid: string; readonly person: Person | undefined };
}

/** Returns the roles that PersonRoleReader would read for this person. */
function rolesOf({ role, workspaces = {}, claim }: PersonAccess): PersonRoles {
  const found = role ?? ROLES.find((each) => each === claim);
  return { workspaces, access: ACCESS, ...(found !== undefined && found !== 'none' && { role: found }) };
}

function person(name: string, uid: string, standing: PersonAccess): Caller {
  return {
    name,
    uid,
    claims: standing.claim === undefined ? {} : { role: standing.claim },
    principal: { uid, kind: 'person', owner_uid: uid, maxRole: 'admin', owner: rolesOf(standing) },
    stored: { uid, person: personOf(standing) },
  };
}

interface AgentAccess {
  readonly role: Role;
  readonly owner: PersonAccess;
  readonly ownerUid?: string;
  readonly heldTo?: string;
  readonly readonly?: true;
  /** Claims of a token that was issued before a change of the roles. They replace the current claims. */
  readonly minted?: Readonly<Record<string, unknown>>;
}

function agent(name: string, agentId: string, standing: AgentAccess): Caller {
  const { role: maxRole, owner, ownerUid = `owner-of-${agentId}`, heldTo, readonly, minted } = standing;
  const uid = agentUid(agentId);
  const bounds = { ...(heldTo !== undefined && { held_to: heldTo }), ...(readonly && { readonly }) };
  const principal: Principal = {
    uid,
    kind: 'agent',
    agent_id: agentId,
    owner_uid: ownerUid,
    maxRole,
    owner: rolesOf(owner),
    ...bounds,
  };
  return {
    name,
    uid,
    claims: { ...claimsOf(principal), ...minted },
    principal,
    stored: { uid: ownerUid, person: personOf(owner) },
  };
}

const OWNERS: PersonAccess = { claim: 'viewer' };

/** The person who owns every owned document in the tests. */
export const OWNER = person('their owner', 'owner-1', OWNERS);

/** The owner, and the agents of the owner. */
export const owners: readonly Caller[] = [
  OWNER,
  agent('an agent of their owner, admin by itself', 'owners-1', { role: 'admin', owner: OWNERS, ownerUid: 'owner-1' }),
  agent('a read-only agent of their owner', 'owners-2', {
    role: 'worker',
    owner: OWNERS,
    ownerUid: 'owner-1',
    readonly: true,
  }),
  agent('an agent of their owner held to a workspace of others', 'owners-3', {
    role: 'worker',
    owner: OWNERS,
    ownerUid: 'owner-1',
    heldTo: 'gamma',
  }),
  agent('an agent of their owner held to an open workspace', 'owners-4', {
    role: 'worker',
    owner: OWNERS,
    ownerUid: 'owner-1',
    heldTo: 'beta',
  }),
];

/** People without a role, because the role in their claim is unknown or not a string. */
const inventors = ['superadmin', 'Admin', 'admin\nworker', 'none', 7, ['admin'], { admin: true }].map((claim, index) =>
  person(`a person whose claim is ${JSON.stringify(claim)}`, `inventor-${index}`, { claim }),
);

const MEMBER_ROLES = ['viewer', 'worker', 'leader'] as const;
const deployments = ROLES.map((claim) => person(`a ${claim} of the deployment`, `${claim}-1`, { claim }));

const members = MEMBER_ROLES.map((role) =>
  person(`a ${role} of alpha`, `alpha-${role}`, { workspaces: { alpha: role } }),
);

const people: readonly Caller[] = [
  person('somebody with an account only', 'account-1', {}),
  ...inventors,
  ...deployments,
  person('an admin as stored', 'stored-1', { role: 'admin' }),
  person('a viewer as stored whose claim is admin', 'stored-2', { role: 'viewer', claim: 'admin' }),
  person('a person stored as none who claims admin', 'stored-3', { role: 'none', claim: 'admin' }),
  ...members,
  person('a leader of gamma', 'gamma-leader', { workspaces: { gamma: 'leader' } }),
  person('a member of only alpha and gamma', 'alpha-gamma', {
    role: 'none',
    claim: 'leader',
    workspaces: { alpha: 'worker', gamma: 'viewer' },
  }),
  person('an admin who is a viewer of alpha', 'admin-viewer', { claim: 'admin', workspaces: { alpha: 'viewer' } }),
  person('a viewer who leads beta', 'beta-leader', { claim: 'viewer', workspaces: { beta: 'leader' } }),
  person('a worker of alpha with an odd uid', 'a.b#c$d[e]%f', { workspaces: { alpha: 'worker' } }),
];

const SESSIONS_END = 1_788_000_000;

/** Returns the caller without its principal. The rules must deny everything to a caller without a principal. */
function shutOut(caller: Caller): Caller {
  const { principal: _, ...rest } = caller;
  return rest;
}

const ENDED: PersonAccess = { role: 'worker', workspaces: { alpha: 'leader' }, validSince: SESSIONS_END };

function signedInAt(seconds: number, name: string): Caller {
  const caller = person(name, `sessions-${seconds}`, ENDED);
  return { ...caller, claims: { ...caller.claims, auth_time: seconds } };
}

const agentOf = (name: string, agentId: string, owner: PersonAccess) => agent(name, agentId, { role: 'admin', owner });

/** Callers whose account was disabled, deleted or signed out, and similar callers whose account is valid. */
export const accounts = {
  before: shutOut(signedInAt(SESSIONS_END - 1, 'a worker who signed in before the sessions ended')),
  at: signedInAt(SESSIONS_END, 'a worker who signed in as the sessions ended'),
  after: signedInAt(SESSIONS_END + 1, 'a worker who signed in after the sessions ended'),
  agent: agentOf('an agent of a worker whose sessions ended', 'ended-1', { ...ENDED, account: 'good' }),
  disabled: shutOut(agentOf('an agent of a worker who is disabled', 'ended-2', { ...ENDED, account: 'disabled' })),
  deleted: shutOut(agentOf('an agent of a worker who is deleted', 'ended-3', { ...ENDED, account: 'deleted' })),
} as const;

const LEADS_ALPHA: PersonAccess = { workspaces: { alpha: 'leader' } };

const agents: readonly Caller[] = [
  agent('an agent of somebody with an account only', 'account-agent', { role: 'admin', owner: {} }),
  ...ROLES.map((role) =>
    agent(`an agent, ${role}, of an admin`, `admins-${role}`, { role, owner: { claim: 'admin' } }),
  ),
  agent('an agent, admin, of a worker', 'workers-admin', { role: 'admin', owner: { claim: 'worker' } }),
  agent('an agent, admin, of a viewer of alpha', 'alpha-viewers-admin', {
    role: 'admin',
    owner: { workspaces: { alpha: 'viewer' } },
  }),
  agent('an agent, worker, of a leader of alpha', 'alpha-leaders-worker', { role: 'worker', owner: LEADS_ALPHA }),
  agent('a read-only agent of a leader of alpha', 'alpha-leaders-reader', {
    role: 'leader',
    owner: LEADS_ALPHA,
    readonly: true,
  }),
  agent('an agent held to alpha', 'held-alpha', {
    role: 'leader',
    owner: { claim: 'admin', workspaces: { alpha: 'worker' } },
    heldTo: 'alpha',
  }),
  agent('an agent held to beta', 'held-beta', {
    role: 'leader',
    owner: { claim: 'worker', workspaces: { alpha: 'leader' } },
    heldTo: 'beta',
  }),
  agent('an agent held to default', 'held-default', { role: 'admin', owner: { claim: 'admin' }, heldTo: 'default' }),
  agent('an agent held to gamma, of an admin who is no member', 'held-gamma', {
    role: 'admin',
    owner: { claim: 'admin' },
    heldTo: 'gamma',
  }),
  agent('an agent of somebody who has lost everything', 'former-agent', {
    role: 'admin',
    owner: { role: 'none' },
    minted: { ownerRole: 'admin' },
  }),
  agent('an agent whose token says no role', 'roleless-agent', {
    role: 'viewer',
    owner: {},
    minted: { role: null, ownerRole: 'admin' },
  }),
];

export const callers: readonly Caller[] = [
  { name: 'somebody signed out' },
  ...owners,
  ...people,
  ...agents,
  ...Object.values(accounts),
];

/** Returns all callers in the nightly run, otherwise one in `oneIn`. `turn` is the index of the first one. */
export function someOf(all: readonly Caller[], oneIn = 3, turn = 0): readonly Caller[] {
  return IS_NIGHTLY ? all : all.filter((_caller, index) => index % oneIn === turn % oneIn);
}

export function may({ principal }: Caller, question: AccessQuestion, subject: Subject): boolean {
  return principal !== undefined && decideAccess(principal, question, subject).isAllowed;
}

export function callerNamed(name: string): Caller {
  const found = callers.find((caller) => caller.name === name);
  if (found === undefined) throw new Error(`caller not found: ${name}`);
  return found;
}
