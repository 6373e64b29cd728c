/**
 * Who may register an agent again, and what its new credential may open: never more than the old one, unless a person
 * or an admin says so. Source: docs/decisions/0006-who-may-register.md.
 */
import type { Change, Operation, RecordAnswer } from '../../kernel/commit.ts';
import { MusterError } from '../../kernel/errors.ts';
import { MAX_AGENT_BYTES, requireSize } from '../../kernel/json.ts';
import type { Hashing } from '../../kernel/ports.ts';
import { retryStale } from '../../kernel/waiting.ts';
import {
  type Agent,
  type AgentConfiguration,
  type AgentType,
  type Capability,
  countedAgent,
  NOTHING_DONE,
  skillChanges,
} from './agent.ts';
import {
  type AccessPorts,
  CREDENTIAL_DAYS,
  type Credential,
  hasRole,
  type Principal,
  type Role,
} from './principal.ts';

/**
 * Lets an agent be registered again by itself, by its owner in person, or by a leader of the same owner that is not
 * weaker than it.
 * @throws MusterError FORBIDDEN
 */
export function authoriseReplacing(principal: Principal, agent: Agent): void {
  if (agent.ownerUid === principal.ownerUid) {
    if (principal.agentId === agent.id || principal.kind === 'person') return;
    if (hasRole(principal.role, 'leader') && hasRole(principal.role, agent.role)) return;
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
  const role = wanted ?? existing?.role ?? 'worker';
  if (!hasRole(principal.role, role)) {
    throw forbiddenRole(
      role,
      `You may not register an agent with the role ${role}: yours is ${principal.role}.`,
      `Ask for ${principal.role} or less, or let somebody with that role register it.`,
    );
  }
  if (existing !== undefined && !hasRole(existing.role, role) && !mayWiden(principal)) {
    throw forbiddenRole(
      role,
      `You may not raise the agent to ${role}: its role is ${existing.role}.`,
      `Leave role out to keep ${existing.role}, or let the agent's owner in person or an admin raise it.`,
    );
  }
  return role;
}

/** The only toolsets of the new credential; all where undefined. */
export function grantedToolsets(
  principal: Principal,
  old: readonly Credential[],
): readonly string[] | undefined {
  const before = mayWiden(principal) ? [] : old.map(({ toolsets }) => toolsets);
  const limits = [principal.toolsets, ...before].flatMap((toolsets) => (toolsets ? [toolsets] : []));
  const [first, ...others] = limits;
  return first?.filter((toolset) => others.every((toolsets) => toolsets.includes(toolset)));
}

function mayWiden(principal: Principal): boolean {
  return principal.kind === 'person' || hasRole(principal.role, 'admin');
}

function forbiddenRole(role: Role, message: string, suggestion: string): MusterError {
  return new MusterError('FORBIDDEN', message, { field: 'role', value: role, suggestion });
}

// The ids that onboarding.registerAgent makes: of an owner and a name, so that registering again finds the
// agent.

const USUAL_DIGITS = 8;

/** So many that nobody finds another name with the same digest. Nobody may choose an id that ends so. */
const SAFE_DIGITS = 16;

const ENDS_SAFELY = new RegExp(`-[0-9a-f]{${SAFE_DIGITS}}$`);

/** Whether only registerAgent makes agents of such an id. */
export function isReserved(agentId: string): boolean {
  return ENDS_SAFELY.test(agentId);
}

function idOf(ownerUid: string, name: string, hashing: Hashing, digits: number): string {
  const start = name.replace(/^[^A-Za-z0-9]+/, '') || 'agent';
  return `${start}-${hashing.sha256(`${ownerUid}\n${name}`).slice(0, digits)}`;
}

// Registering agents and their credentials. Source: spec/network.md, onboarding.registerAgent;
// docs/decisions/0006-who-may-register.md.

/** What an agent says of itself. */
export interface AgentDraft {
  readonly name: string;
  readonly type: AgentType;
  readonly version: string;
  readonly description?: string | undefined;
  readonly creator?: string | undefined;
  readonly capabilities: readonly Capability[];
  readonly configuration: AgentConfiguration;
  /** The role that its credential is to have: at most the caller's. */
  readonly role?: Role | undefined;
  readonly workspace?: string | undefined;
}

export interface Registered {
  readonly agent: Agent;
  readonly credential: Credential;
  /** Given out once, here. */
  readonly secret: string;
}

const DAY_MILLISECONDS = 24 * 60 * 60 * 1000;

export class AgentRegistration {
  private readonly ports: AccessPorts;

  constructor(ports: AccessPorts) {
    this.ports = ports;
  }

  /**
   * Registers an agent of the caller's owner, or registers it again: its profile and its credential are
   * replaced, and the old credential stops working.
   * @throws MusterError FORBIDDEN for a role above the caller's, or an agent that is not the caller's to replace
   */
  async register(
    principal: Principal,
    draft: AgentDraft,
    operation: Operation,
    recordAnswer: RecordAnswer<Registered>,
  ): Promise<Registered> {
    const { agents, store, clock, randomness } = this.ports;
    requireSize('An agent', 'capabilities', draft, MAX_AGENT_BYTES);
    return retryStale(randomness, async () => {
      const now = clock.now();
      const { agentId, existing } = await this.find(principal.ownerUid, draft.name);
      if (existing !== undefined) authoriseReplacing(principal, existing.value);
      const role = grantedRole(principal, draft.role, existing?.value);
      const agent = buildAgent(agentId, principal.ownerUid, role, draft, existing?.value, now);
      const old = await agents.credentials(agentId);
      const { credential, secret } = this.issue(agentId, grantedToolsets(principal, old), operation, now);
      const outcome = { agent, credential, secret };
      await store.commit(
        [
          existing === undefined
            ? { kind: 'createAgent', agent }
            : { kind: 'replaceAgent', agent, version: existing.version },
          ...countedAgent(existing?.value, agent),
          ...skillChanges(existing?.value, agent),
          ...old.map(({ apiKey }): Change => ({ kind: 'withdrawCredential', apiKey })),
          { kind: 'issueCredential', credential },
        ],
        recordAnswer(outcome),
      );
      return outcome;
    });
  }

  /**
   * The secret that an earlier call with the same idempotency key gave out, where its credential still stands.
   * It is derived, never stored: undefined where the caller has another credential than then.
   */
  async secretOf(apiKey: string, agentId: string, operation: Operation): Promise<string | undefined> {
    const credentials = await this.ports.agents.credentials(agentId);
    const secret = operation.derivedSecret('credential');
    const credential = credentials.find((one) => one.apiKey === apiKey);
    if (secret === undefined || credential === undefined) return undefined;
    const { hashing } = this.ports;
    return hashing.equal(hashing.sha256(secret), credential.secretHash) ? secret : undefined;
  }

  /** Withdraws every credential of an agent. Tells how many there were. */
  async revoke(agentId: string): Promise<number> {
    const { agents, store, randomness } = this.ports;
    return retryStale(randomness, async () => {
      const credentials = await agents.credentials(agentId);
      await store.commit(credentials.map(({ apiKey }): Change => ({ kind: 'withdrawCredential', apiKey })));
      return credentials.length;
    });
  }

  /** The id that an owner's agent of a name gets, unless another owner has an agent of this id. */
  agentId(ownerUid: string, name: string): string {
    return idOf(ownerUid, name, this.ports.hashing, USUAL_DIGITS);
  }

  /** The owner's agent of a name, or the id for it. Where somebody else has the usual id, it is another. */
  private async find(ownerUid: string, name: string) {
    const { agents, hashing } = this.ports;
    const usual = idOf(ownerUid, name, hashing, USUAL_DIGITS);
    const known = await agents.find(usual);
    if (known === undefined || known.value.ownerUid === ownerUid) return { agentId: usual, existing: known };
    const safe = idOf(ownerUid, name, hashing, SAFE_DIGITS);
    return { agentId: safe, existing: await agents.find(safe) };
  }

  private issue(
    agentId: string,
    toolsets: readonly string[] | undefined,
    operation: Operation,
    now: Date,
  ): { credential: Credential; secret: string } {
    const { randomness, hashing } = this.ports;
    const secret = operation.derivedSecret('credential') ?? randomness.secret(32);
    const credential = {
      apiKey: `mk_${randomness.letters(20)}`,
      agentId,
      secretHash: hashing.sha256(secret),
      createdAt: now,
      expiresAt: new Date(now.getTime() + CREDENTIAL_DAYS * DAY_MILLISECONDS),
      ...(toolsets && { toolsets }),
    };
    return { credential, secret };
  }
}

function buildAgent(
  id: string,
  ownerUid: string,
  role: Role,
  draft: AgentDraft,
  existing: Agent | undefined,
  now: Date,
): Agent {
  return {
    ...standing(existing, now),
    id,
    name: draft.name,
    type: draft.type,
    version: draft.version,
    ...(draft.description !== undefined && { description: draft.description }),
    ...(draft.creator !== undefined && { creator: draft.creator }),
    capabilities: draft.capabilities,
    configuration: draft.configuration,
    ownerUid,
    role,
    ...(draft.workspace !== undefined && { workspace: draft.workspace }),
  };
}

/** What registering again leaves as it is. */
function standing(existing: Agent | undefined, now: Date) {
  // Nobody has seen a new agent yet: its first call makes it active.
  if (existing === undefined)
    return { ...NOTHING_DONE, status: 'offline' as const, registeredAt: now, lastSeen: now };
  const { description: _description, creator: _creator, ...kept } = existing;
  return kept;
}
