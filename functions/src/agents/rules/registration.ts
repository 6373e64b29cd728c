/** Registers agents. Only a person or an admin widens a key. Source: docs/decisions/0006-roles-and-registration.md. */
import { CREDENTIAL_DAYS, type Credential, type Limits } from '../../identity/rules/credential.ts';
import {
  descentOf,
  grantedLimits,
  mayWiden,
  type WantedLimits,
  withdrawalOf,
} from '../../identity/rules/lineage.ts';
import {
  DEFAULT_WORKSPACE,
  noRoleIn,
  ownRole,
  type Principal,
  roleIn,
} from '../../identity/rules/principal.ts';
import { hasRole, type Role } from '../../identity/rules/role.ts';
import type { Operation, RecordAnswer, Versioned } from '../../kernel/commit.ts';
import { MusterError } from '../../kernel/errors.ts';
import { ID } from '../../kernel/ids.ts';
import { MAX_AGENT_BYTES, requireSize } from '../../kernel/json.ts';
import { type KernelPorts, Service } from '../../kernel/ports.ts';
import { retryStale } from '../../kernel/waiting.ts';
import {
  type Agent,
  countedAgent,
  homeOf,
  isOwnAgent,
  NOTHING_DONE,
  requireFewWorkspaces,
  skillChanges,
  USUAL_DIGITS,
} from './agent.ts';
import type { AgentPorts } from './ports.ts';

/**
 * Lets an agent be registered again by itself, its registrant, its owner, or a leader of its owner who is no weaker.
 * @throws MusterError FORBIDDEN
 */
export function authoriseReplacing(principal: Principal, agent: Agent): void {
  if (agent.owner_uid === principal.owner_uid) {
    if (isOwnAgent(principal, agent)) return;
    const role = ownRole(principal) ?? 'viewer';
    if (hasRole(role, 'leader') && hasRole(role, agent.role)) return;
  }
  throw new MusterError(
    'FORBIDDEN',
    'An agent of this name is registered already, and you may not replace it.',
    {
      field: 'agentInfo.name',
      suggestion:
        'Choose another name, or let that agent, its owner or a leader whose role is not below its own register it again.',
    },
  );
}

/** @throws MusterError FORBIDDEN for more than the caller has, or than the agent had */
export function grantedRole(
  principal: Principal,
  wanted: Role | undefined,
  existing: Agent | undefined,
): Role {
  // An agent that renews its own key keeps its role, within which what it was registered through may hold it now.
  if (wanted === undefined && existing !== undefined && existing.id === principal.agent_id)
    return existing.role;
  const own = ownRole(principal) ?? 'viewer';
  const role = wanted ?? existing?.role ?? 'worker';
  if (!hasRole(own, role)) {
    throw forbiddenRole(
      role,
      `You may not register an agent with the role ${role}: yours is ${own}.`,
      `Ask for ${own} or less, or let somebody with that role register it.`,
    );
  }
  if (existing !== undefined && !hasRole(existing.role, role) && !mayWiden(principal)) {
    throw forbiddenRole(
      role,
      `You may not raise the agent to ${role}: its role is ${existing.role}.`,
      `Leave role out to keep ${existing.role}, or let the agent's owner raise it in person.`,
    );
  }
  return role;
}

function forbiddenRole(role: Role, message: string, suggestion: string): MusterError {
  return new MusterError('FORBIDDEN', message, { field: 'role', value: role, suggestion });
}

/** So many that nobody finds another name with the same digest. Nobody may choose an id that ends so. */
const SAFE_DIGITS = 16;

const ENDS_WITH_DIGEST = new RegExp(`-(?:[0-9a-f]{${USUAL_DIGITS}}|[0-9a-f]{${SAFE_DIGITS}})$`);

/** Whether agents get such an id by registration alone: nobody may take one before its owner. */
export function isReserved(agentId: string): boolean {
  return ENDS_WITH_DIGEST.test(agentId);
}

/** An agent as it describes itself. */
export interface AgentDraft
  extends Pick<Agent, 'name' | 'type' | 'version' | 'capability_details' | 'configuration'> {
  readonly description?: string | undefined;
  readonly creator?: string | undefined;
  readonly workspace?: string | undefined;
  /** The role that its credential is to have: at most the caller's. */
  readonly role?: Role | undefined;
  readonly limits?: WantedLimits | undefined;
}

export interface Registered {
  readonly agent: Agent;
  readonly credential: Credential;
  /** Given out once, here. */
  readonly secret: string;
}

const DAY_MILLISECONDS = 24 * 60 * 60 * 1000;

export function newCredential(
  { clock, randomness, hashing }: Pick<KernelPorts, 'clock' | 'randomness' | 'hashing'>,
  agentId: string,
  secret: string,
  opens: Limits & Pick<Credential, 'ancestors' | 'line' | 'grant'>,
): Credential {
  const now = clock.now();
  return {
    api_key: `mk_${randomness.letters(20)}`,
    agent_id: agentId,
    secret_hash: hashing.sha256(secret),
    created_at: now,
    expires_at: new Date(now.getTime() + CREDENTIAL_DAYS * DAY_MILLISECONDS),
    ...opens,
  };
}

/** Source: the network specification, onboarding.registerAgent; docs/decisions/0006-roles-and-registration.md. */
export class AgentRegistration extends Service<AgentPorts> {
  /**
   * Registers an agent of the caller's owner, or registers it again: its profile and its credential are
   * replaced, and the old credential stops working. Whoever registers a new one as an agent acts for it.
   * @param caller `workspace`: that of the call, which a new agent has for its home where its draft names none
   * @throws MusterError FORBIDDEN for a role above the caller's, or an agent that is not the caller's to replace
   */
  async register(
    { principal, workspace: here }: { readonly principal: Principal; readonly workspace: string },
    draft: AgentDraft,
    operation: Operation,
    recordAnswer: RecordAnswer<Registered>,
  ): Promise<Registered> {
    const { agents, store, clock, randomness } = this.ports;
    requireSize('An agent', 'capabilities', draft, MAX_AGENT_BYTES);
    return retryStale(randomness, async () => {
      const now = clock.now();
      const { id, known } = await this.find(principal.owner_uid, draft.name);
      const before = known?.value;
      if (before !== undefined) authoriseReplacing(principal, before);
      const old = await agents.credentials(id);
      const limits = grantedLimits(principal, old, draft.limits);
      const agent: Agent = {
        ...keptOf(before, now),
        ...describedIn(draft),
        ...homeOfDraft(principal, draft, limits, before ? homeOf(before) : here),
        id,
        owner_uid: principal.owner_uid,
        role: grantedRole(principal, draft.role, before),
        ...(before === undefined && principal.kind === 'agent' && { registered_by: principal.uid }),
      };
      requireFewWorkspaces(before, agent);
      const secret = operation.derivedSecret('credential') ?? randomness.secret(32);
      const { grant } = principal;
      const descent = { ...descentOf(principal, old), ...(grant && { grant: grant.id }) };
      const credential = newCredential(this.ports, id, secret, { ...limits, ...descent });
      const outcome = { agent, credential, secret };
      await store.commit(
        [
          known === undefined
            ? { kind: 'createAgent', agent }
            : { kind: 'replaceAgent', agent, before: known.value, version: known.version },
          ...countedAgent(before, agent),
          ...skillChanges(before, agent),
          ...old.map(withdrawalOf),
          { kind: 'issueCredential', credential },
        ],
        recordAnswer(outcome),
      );
      return outcome;
    });
  }

  /** The derived, never stored secret of an earlier call with this key, if its credential stands; else undefined. */
  async secretOf(apiKey: string, agentId: string, operation: Operation): Promise<string | undefined> {
    const credentials = await this.ports.agents.credentials(agentId);
    const secret = operation.derivedSecret('credential');
    const credential = credentials.find((one) => one.api_key === apiKey);
    if (secret === undefined || credential === undefined) return undefined;
    const { hashing } = this.ports;
    return hashing.equal(hashing.sha256(secret), credential.secret_hash) ? secret : undefined;
  }

  /** The usual id of an owner's agent of a name, made of the two, so that registering again finds the agent. */
  agentId(ownerUid: string, name: string, digits = USUAL_DIGITS): string {
    const start = name.replace(/^[^A-Za-z0-9]+/, '');
    // An app's name may be any text, and an id may not.
    const plain = ID.test(start)
      ? start
      : start
          .replace(/[^A-Za-z0-9_-]+/g, '-')
          .slice(0, 50)
          .replace(/-+$/, '');
    return `${plain || 'agent'}-${this.ports.hashing.sha256(`${ownerUid}\n${name}`).slice(0, digits)}`;
  }

  /** The owner's agent of a name, or the id for it. Where somebody else has the usual id, it is another. */
  async find(
    ownerUid: string,
    name: string,
  ): Promise<{ readonly id: string; readonly known: Versioned<Agent> | undefined }> {
    const { agents } = this.ports;
    const usual = this.agentId(ownerUid, name);
    const known = await agents.find(usual);
    if (known === undefined || known.value.owner_uid === ownerUid) return { id: usual, known };
    const id = this.agentId(ownerUid, name, SAFE_DIGITS);
    return { id, known: await agents.find(id) };
  }
}

/** @throws MusterError FORBIDDEN, the same for a workspace that is not there */
function requireRoleIn(principal: Principal, workspace: string, field: 'workspace' | 'heldTo'): void {
  if (roleIn(principal, workspace) !== undefined) return;
  const { code, message, details } = noRoleIn(workspace);
  throw new MusterError(code, message, { ...details, field });
}

/**
 * The home of calls that name no workspace: the wanted one, else the only one that the credential opens.
 * @throws MusterError FORBIDDEN where the caller has no role; VALIDATION_ERROR where the credential opens another
 */
function homeOfDraft(
  principal: Principal,
  { workspace: wanted, limits }: AgentDraft,
  { held_to }: Limits,
  usual: string,
): Pick<Agent, 'workspace'> {
  if (wanted !== undefined) requireRoleIn(principal, wanted, 'workspace');
  if (limits?.held_to) requireRoleIn(principal, limits.held_to, 'heldTo');
  if (wanted !== undefined && held_to !== undefined && wanted !== held_to) {
    throw new MusterError('VALIDATION_ERROR', `The credential is held to the workspace "${held_to}".`, {
      field: 'workspace',
      value: wanted,
      suggestion: `Leave workspace out, or say "${held_to}".`,
    });
  }
  const workspace = wanted ?? held_to ?? usual;
  return workspace === DEFAULT_WORKSPACE ? {} : { workspace };
}

/** What a draft says of the agent itself. */
function describedIn({ role: _role, limits: _limits, workspace: _workspace, ...draft }: AgentDraft) {
  const { description, creator, ...profile } = draft;
  return {
    ...profile,
    ...(description !== undefined && { description }),
    ...(creator !== undefined && { creator }),
  };
}

/** The part of an agent that another registration leaves as it is. */
function keptOf(before: Agent | undefined, now: Date) {
  // Nobody has seen a new agent yet: its first call makes it active.
  if (before === undefined)
    return { ...NOTHING_DONE, status: 'offline' as const, registered_at: now, last_seen: now };
  const { description: _description, creator: _creator, workspace: _workspace, ...kept } = before;
  return kept;
}
