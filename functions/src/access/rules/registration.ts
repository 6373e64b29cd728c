/**
 * Registers agents. A new credential never opens more than the old one, unless a person or an admin says so. Source: docs/decisions/0006-who-may-register.md.
 */
import type { Change, Operation, RecordAnswer } from '../../kernel/commit.ts';
import { MusterError } from '../../kernel/errors.ts';
import { MAX_AGENT_BYTES, requireSize } from '../../kernel/json.ts';
import { Service } from '../../kernel/ports.ts';
import { retryStale } from '../../kernel/waiting.ts';
import { type Agent, countedAgent, NOTHING_DONE, skillChanges } from './agent.ts';
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

const USUAL_DIGITS = 8;

/** So many that nobody finds another name with the same digest. Nobody may choose an id that ends so. */
const SAFE_DIGITS = 16;

const ENDS_SAFELY = new RegExp(`-[0-9a-f]{${SAFE_DIGITS}}$`);

/** Whether only registerAgent makes agents of such an id. */
export function isReserved(agentId: string): boolean {
  return ENDS_SAFELY.test(agentId);
}

/** An agent as it describes itself. */
export interface AgentDraft
  extends Pick<Agent, 'name' | 'type' | 'version' | 'capabilities' | 'configuration'> {
  readonly description?: string | undefined;
  readonly creator?: string | undefined;
  readonly workspace?: string | undefined;
  /** The role that its credential is to have: at most the caller's. */
  readonly role?: Role | undefined;
}

export interface Registered {
  readonly agent: Agent;
  readonly credential: Credential;
  /** Given out once, here. */
  readonly secret: string;
}

const DAY_MILLISECONDS = 24 * 60 * 60 * 1000;

/** Source: spec/network.md, onboarding.registerAgent; docs/decisions/0006-who-may-register.md. */
export class AgentRegistration extends Service<AccessPorts> {
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
    const { agents, store, clock, randomness, hashing } = this.ports;
    requireSize('An agent', 'capabilities', draft, MAX_AGENT_BYTES);
    return retryStale(randomness, async () => {
      const now = clock.now();
      const { id, known } = await this.find(principal.ownerUid, draft.name);
      const before = known?.value;
      if (before !== undefined) authoriseReplacing(principal, before);
      const { description, creator, workspace, role, ...profile } = draft;
      const agent: Agent = {
        ...keptOf(before, now),
        ...profile,
        id,
        ownerUid: principal.ownerUid,
        role: grantedRole(principal, role, before),
        ...(description !== undefined && { description }),
        ...(creator !== undefined && { creator }),
        ...(workspace !== undefined && { workspace }),
      };
      const old = await agents.credentials(id);
      const toolsets = grantedToolsets(principal, old);
      const secret = operation.derivedSecret('credential') ?? randomness.secret(32);
      const credential = {
        apiKey: `mk_${randomness.letters(20)}`,
        agentId: id,
        secretHash: hashing.sha256(secret),
        createdAt: now,
        expiresAt: new Date(now.getTime() + CREDENTIAL_DAYS * DAY_MILLISECONDS),
        ...(toolsets && { toolsets }),
      };
      const outcome = { agent, credential, secret };
      await store.commit(
        [
          known === undefined
            ? { kind: 'createAgent', agent }
            : { kind: 'replaceAgent', agent, version: known.version },
          ...countedAgent(before, agent),
          ...skillChanges(before, agent),
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

  /**
   * The id that an owner's agent of a name gets, unless another owner has an agent of this id. It is made of the two,
   * so that registering again finds the agent.
   */
  agentId(ownerUid: string, name: string, digits = USUAL_DIGITS): string {
    const start = name.replace(/^[^A-Za-z0-9]+/, '') || 'agent';
    return `${start}-${this.ports.hashing.sha256(`${ownerUid}\n${name}`).slice(0, digits)}`;
  }

  /** The owner's agent of a name, or the id for it. Where somebody else has the usual id, it is another. */
  private async find(ownerUid: string, name: string) {
    const { agents } = this.ports;
    const usual = this.agentId(ownerUid, name);
    const known = await agents.find(usual);
    if (known === undefined || known.value.ownerUid === ownerUid) return { id: usual, known };
    const id = this.agentId(ownerUid, name, SAFE_DIGITS);
    return { id, known: await agents.find(id) };
  }
}

/** The part of an agent that another registration leaves as it is. */
function keptOf(before: Agent | undefined, now: Date) {
  // Nobody has seen a new agent yet: its first call makes it active.
  if (before === undefined)
    return { ...NOTHING_DONE, status: 'offline' as const, registeredAt: now, lastSeen: now };
  const { description: _description, creator: _creator, ...kept } = before;
  return kept;
}
