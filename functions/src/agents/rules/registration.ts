/** Registration of agents. Source: docs/decisions/0006-roles-and-registration.md. */
import { CREDENTIAL_DAYS, type Credential, type Limits } from '../../identity/rules/credential.ts';
import { canWiden, descentOf, grantedLimits, type WantedLimits, withdrawalOf } from '../../identity/rules/lineage.ts';
import { DEFAULT_WORKSPACE, noRoleIn, ownRole, type Principal, roleIn } from '../../identity/rules/principal.ts';
import { hasRole, type Role } from '../../identity/rules/role.ts';
import type { Operation, RecordResponse, Versioned } from '../../kernel/commit.ts';
import { retryOnConflict } from '../../kernel/concurrency.ts';
import { MusterError } from '../../kernel/errors.ts';
import { ID } from '../../kernel/ids.ts';
import { MAX_AGENT_BYTES, requireSize } from '../../kernel/json.ts';
import { DAY_MS, type KernelPorts, Service } from '../../kernel/ports.ts';
import {
  type Agent,
  countedAgent,
  DIGEST_DIGITS,
  homeWorkspaceOf,
  isOwnAgent,
  NO_METRICS,
  requireWorkspaceLimit,
  skillChanges,
} from './agent.ts';
import type { AgentPorts } from './ports.ts';

/**
 * Checks that the caller may re-register an agent. Allowed callers: the agent itself, the caller that registered it,
 * its owner, and leader agents of the same owner whose role is not weaker.
 */
export function requireReplaceable(principal: Principal, agent: Agent): void {
  if (agent.owner_uid === principal.owner_uid) {
    if (isOwnAgent(principal, agent)) return;
    const role = ownRole(principal) ?? 'viewer';
    if (hasRole(role, 'leader') && hasRole(role, agent.role)) return;
  }
  throw new MusterError('FORBIDDEN', 'An agent with this name exists, and you cannot replace it.', {
    field: 'agentInfo.name',
    suggestion:
      'Choose another name. The agent itself, its owner, or a leader with at least its role can re-register it.',
  });
}

/** Returns the new credential's role. @throws MusterError FORBIDDEN if it exceeds the caller's or the agent's role */
export function grantedRole(principal: Principal, wanted: Role | undefined, existing: Agent | undefined): Role {
  // An agent that renews its own credential keeps its role, even while its credential chain limits the role.
  if (wanted === undefined && existing !== undefined && existing.id === principal.agent_id) return existing.role;
  const own = ownRole(principal) ?? 'viewer';
  const role = wanted ?? existing?.role ?? 'worker';
  if (!hasRole(own, role))
    throw forbiddenRole(
      role,
      `You cannot register an agent with the role ${role}; yours is ${own}.`,
      `Set role to ${own} or weaker, or ask a caller with the role ${role} to register it.`,
    );
  if (existing !== undefined && !hasRole(existing.role, role) && !canWiden(principal))
    throw forbiddenRole(
      role,
      `You cannot raise the agent's role from ${existing.role} to ${role}.`,
      `Omit role to keep ${existing.role}, or ask the agent's owner to raise the role in person.`,
    );
  return role;
}

function forbiddenRole(role: Role, message: string, suggestion: string): MusterError {
  return new MusterError('FORBIDDEN', message, { field: 'role', value: role, suggestion });
}

/** Number of digest digits that makes collisions infeasible. Callers cannot choose ids that end in a digest. */
const SAFE_DIGITS = 16;
const ENDS_WITH_DIGEST = new RegExp(`-(?:[0-9a-f]{${DIGEST_DIGITS}}|[0-9a-f]{${SAFE_DIGITS}})$`);

/** Returns whether an id is reserved for registration, so that no other caller can take the id first. */
export function isReserved(agentId: string): boolean {
  return ENDS_WITH_DIGEST.test(agentId);
}

export interface AgentDraft extends Pick<Agent, 'name' | 'type' | 'version' | 'capability_details' | 'configuration'> {
  readonly description?: string | undefined;
  readonly creator?: string | undefined;
  readonly workspace?: string | undefined;
  /** Role that the caller requests for the credential. It can be at most the caller's own role. */
  readonly role?: Role | undefined;
  readonly limits?: WantedLimits | undefined;
}

export interface Registered {
  readonly agent: Agent;
  readonly credential: Credential;
  /** Secret of the credential. It is returned only once, and only its hash is stored. */
  readonly secret: string;
}

export function newCredential(
  { clock, randomness, hashing }: Pick<KernelPorts, 'clock' | 'randomness' | 'hashing'>,
  agentId: string,
  secret: string,
  opensUntil: Limits & Pick<Credential, 'ancestors' | 'line' | 'grant'>,
): Credential {
  const now = clock.now();
  return {
    api_key: `mk_${randomness.letters(20)}`,
    agent_id: agentId,
    secret_hash: hashing.sha256(secret),
    created_at: now,
    expires_at: new Date(now.getTime() + CREDENTIAL_DAYS * DAY_MS),
    ...opensUntil,
  };
}

/** Registers agents. Source: the network specification, onboarding.registerAgent. */
export class AgentRegistration extends Service<AgentPorts> {
  /**
   * Registers or re-registers an agent of the caller's owner. Re-registration replaces the agent's profile and its
   * credential, so the old credential stops working. An agent may act as the agents that it has registered.
   * @param caller `workspace` is the workspace of the call, which becomes the home of a new agent by default
   * @throws MusterError FORBIDDEN if the role is above the caller's, or if the caller cannot replace the agent
   */
  async register(
    { principal, workspace: here }: { readonly principal: Principal; readonly workspace: string },
    draft: AgentDraft,
    operation: Operation,
    recordResponse: RecordResponse<Registered>,
  ): Promise<Registered> {
    const { agents, store, clock, randomness } = this.ports;
    requireSize('An agent', 'capabilities', draft, MAX_AGENT_BYTES);
    return retryOnConflict(randomness, async () => {
      const now = clock.now();
      const { id, known } = await this.find(principal.owner_uid, draft.name);
      const before = known?.value;
      if (before !== undefined) requireReplaceable(principal, before);
      const old = await agents.credentials(id);
      const limits = grantedLimits(principal, old, draft.limits);
      const agent: Agent = {
        ...preservedFields(before, now),
        ...descriptionFields(draft),
        ...homeOfDraft(principal, draft, limits, before ? homeWorkspaceOf(before) : here),
        id,
        owner_uid: principal.owner_uid,
        role: grantedRole(principal, draft.role, before),
        ...(before === undefined && principal.kind === 'agent' && { registered_by: principal.uid }),
      };
      requireWorkspaceLimit(before, agent);
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
        recordResponse(outcome),
      );
      return outcome;
    });
  }

  /** Derives the secret of an earlier call with this idempotency key; undefined if the secret is no longer valid. */
  async secretOf(apiKey: string, agentId: string, operation: Operation): Promise<string | undefined> {
    const credentials = await this.ports.agents.credentials(agentId);
    const secret = operation.derivedSecret('credential');
    const credential = credentials.find((one) => one.api_key === apiKey);
    if (secret === undefined || credential === undefined) return undefined;
    const { hashing } = this.ports;
    return hashing.equal(hashing.sha256(secret), credential.secret_hash) ? secret : undefined;
  }

  /** Returns an id derived from owner and name, so that a repeated registration finds the same agent. */
  agentId(ownerUid: string, name: string, digits = DIGEST_DIGITS): string {
    const start = name.replace(/^[^A-Za-z0-9]+/, '');
    // The name of an app may contain characters that an id cannot contain.
    const plain = ID.test(start)
      ? start
      : start
          .replace(/[^A-Za-z0-9_-]+/g, '-')
          .slice(0, 50)
          .replace(/-+$/, '');
    return `${plain || 'agent'}-${this.ports.hashing.sha256(`${ownerUid}\n${name}`).slice(0, digits)}`;
  }

  /** Finds the owner's agent by name, or an id for a new agent. If that id is taken, adds digits to the id. */
  async find(
    ownerUid: string,
    name: string,
  ): Promise<{ readonly id: string; readonly known: Versioned<Agent> | undefined }> {
    const { agents } = this.ports;
    const defaultId = this.agentId(ownerUid, name);
    const known = await agents.find(defaultId);
    if (known === undefined || known.value.owner_uid === ownerUid) return { id: defaultId, known };
    const id = this.agentId(ownerUid, name, SAFE_DIGITS);
    return { id, known: await agents.find(id) };
  }
}

/** MusterError FORBIDDEN without a role; the error is the same whether or not the workspace exists */
function requireRoleIn(principal: Principal, workspace: string, field: 'workspace' | 'heldTo'): void {
  if (roleIn(principal, workspace) !== undefined) return;
  const { code, message, details } = noRoleIn(workspace);
  throw new MusterError(code, message, { ...details, field });
}

/**
 * Returns the agent's home: the requested workspace, the one its credential is restricted to, or the default.
 * @throws MusterError FORBIDDEN if the caller has no role there; VALIDATION_ERROR if the credential is restricted to
 * another workspace
 */
function homeOfDraft(
  principal: Principal,
  { workspace: wanted, limits }: AgentDraft,
  { held_to }: Limits,
  defaultWorkspace: string,
): Pick<Agent, 'workspace'> {
  if (wanted !== undefined) requireRoleIn(principal, wanted, 'workspace');
  if (limits?.held_to) requireRoleIn(principal, limits.held_to, 'heldTo');
  if (wanted !== undefined && held_to !== undefined && wanted !== held_to)
    throw new MusterError('VALIDATION_ERROR', `The credential is restricted to the workspace "${held_to}".`, {
      field: 'workspace',
      value: wanted,
      suggestion: `Omit workspace, or set it to "${held_to}".`,
    });
  const workspace = wanted ?? held_to ?? defaultWorkspace;
  return workspace === DEFAULT_WORKSPACE ? {} : { workspace };
}

function descriptionFields({ role: _role, limits: _limits, workspace: _workspace, ...draft }: AgentDraft) {
  const { description, creator, ...profile } = draft;
  return { ...profile, ...(description !== undefined && { description }), ...(creator !== undefined && { creator }) };
}

function preservedFields(before: Agent | undefined, now: Date) {
  // A new agent is offline until its first call.
  if (before === undefined) return { ...NO_METRICS, status: 'offline' as const, registered_at: now, last_seen: now };
  const { description: _description, creator: _creator, workspace: _workspace, ...kept } = before;
  return kept;
}
