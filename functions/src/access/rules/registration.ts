/**
 * Registering agents and their credentials.
 * Source: spec/network.md, onboarding.registerAgent; docs/decisions/0006-who-may-register.md.
 */
import type { Change, Operation, RecordAnswer, Versioned } from '../../kernel/commit.ts';
import { MAX_AGENT_BYTES, requireSize } from '../../kernel/json.ts';
import { retryStale } from '../../kernel/retry.ts';
import {
  type Agent,
  type AgentConfiguration,
  type AgentType,
  type Capability,
  countedAgent,
  NOTHING_DONE,
} from './agent.ts';
import type { AccessPorts } from './ports.ts';
import { CREDENTIAL_DAYS, type Credential, type Principal, type Role } from './principal.ts';
import { authoriseReplacing, grantedRole, grantedToolsets, safeId, usualId } from './registrant.ts';
import { skillChanges } from './skills.ts';

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
          replaceOrCreate(agent, existing),
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
    return usualId(ownerUid, name, this.ports.hashing);
  }

  /** The owner's agent of a name, or the id for it. Where somebody else has the usual id, it is another. */
  private async find(ownerUid: string, name: string) {
    const { agents, hashing } = this.ports;
    const usual = usualId(ownerUid, name, hashing);
    const known = await agents.find(usual);
    if (known === undefined || known.value.ownerUid === ownerUid) return { agentId: usual, existing: known };
    const safe = safeId(ownerUid, name, hashing);
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

function replaceOrCreate(agent: Agent, existing: Versioned<Agent> | undefined): Change {
  return existing === undefined
    ? { kind: 'createAgent', agent }
    : { kind: 'replaceAgent', agent, version: existing.version };
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
