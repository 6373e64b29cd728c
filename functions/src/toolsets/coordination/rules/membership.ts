/** Agents in a workspace's coordination. Source: spec/coordination.md, register_agent and heartbeat. */

import {
  type Agent,
  agentNotRegistered,
  authoriseActing,
  type Capability,
  countedAgent,
  forbiddenToAct,
  NOTHING_DONE,
  seenAt,
  skillChanges,
  USUAL_CONFIGURATION,
} from '../../../access/rules/agent.ts';
import { type Revive, touchPresence } from '../../../access/rules/liveness.ts';
import { hasRole, type Principal } from '../../../access/rules/principal.ts';
import { isReserved } from '../../../access/rules/registration.ts';
import type { Change, RecordAnswer } from '../../../kernel/commit.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { Service } from '../../../kernel/ports.ts';
import { retryStale } from '../../../kernel/waiting.ts';
import type { CoordinationPorts } from './session.ts';

interface MembershipRequest {
  readonly agentId: string;
  readonly role: 'leader' | 'worker';
  readonly workspace: string;
  /** By name, or with all that is to be told of them. */
  readonly capabilities?: readonly (string | Capability)[] | undefined;
}

export interface Membership {
  readonly agent: Agent;
  /** The task in hand in the workspace's open session. */
  readonly currentTask: string | null;
}

export class AgentMembership extends Service<CoordinationPorts> {
  private readonly revive: Revive;

  constructor(ports: CoordinationPorts, revive: Revive) {
    super(ports);
    this.revive = revive;
  }

  /**
   * Registers an agent in a workspace: a known one, or a new one without a credential of its own that the
   * caller acts for.
   * @throws MusterError FORBIDDEN for another's agent, or for the part of a leader without that role
   */
  async join(
    principal: Principal,
    request: MembershipRequest,
    recordAnswer: RecordAnswer<Membership>,
  ): Promise<Membership> {
    if (request.role === 'leader' && !hasRole(principal.role, 'leader')) throw forbiddenToLead(principal);
    const { sessions, store, presence, clock, randomness, log } = this.ports;
    const membership = await retryStale(randomness, async () => {
      const now = clock.now();
      const { agent: known, open } = await sessions.currentWithAgent(request.workspace, request.agentId);
      authoriseJoining(principal, request.agentId, known?.value);
      const agent = joined(known?.value ?? newMember(principal, request.agentId, now), request, now);
      const held = Object.entries(agent.held).find(([, task]) => task.session === open?.session.id);
      const outcome = { agent, currentTask: held?.[0] ?? null };
      const change: Change = known
        ? { kind: 'replaceAgent', agent, version: known.version }
        : { kind: 'createAgent', agent };
      await store.commit(
        [change, ...countedAgent(known?.value, agent), ...skillChanges(known?.value, agent)],
        recordAnswer(outcome),
      );
      return outcome;
    });
    await touchPresence(presence, log, request.agentId);
    return membership;
  }

  /** @throws MusterError NOT_FOUND when the agent is not registered */
  async heartbeat(
    principal: Principal,
    agentId: string,
    recordAnswer: RecordAnswer<undefined>,
  ): Promise<void> {
    const { agents, store, presence, log } = this.ports;
    // An agent's own credential was checked a moment ago, which read the agent and revived it.
    if (principal.agentId !== agentId) {
      const known = await agents.find(agentId);
      authoriseActing(principal, agentId, known?.value);
      if (known === undefined) throw agentNotRegistered(agentId);
      if (known.value.status === 'offline') await this.revive(agentId);
    }
    if (!(await touchPresence(presence, log, agentId))) throw heartbeatNotNoted();
    await store.commit([], recordAnswer(undefined));
  }

  /**
   * Checks that the caller may act as the agent, and notes that another one than itself was seen.
   * @throws MusterError FORBIDDEN
   */
  async actAs(principal: Principal, agentId: string): Promise<void> {
    if (principal.agentId === agentId) return;
    const { agents, presence, log } = this.ports;
    const known = await agents.find(agentId);
    authoriseActing(principal, agentId, known?.value);
    if (known?.value.status === 'offline') await this.revive(agentId);
    if (known !== undefined) await touchPresence(presence, log, agentId);
  }
}

/**
 * People may register agents of their own; agents only themselves; leaders anyone who is not above them. Ids that
 * only onboarding.registerAgent makes are nobody's to choose, or somebody would take the id of another's agent to be.
 */
function authoriseJoining(principal: Principal, agentId: string, known: Agent | undefined): void {
  if (principal.agentId === agentId) return;
  if (known === undefined) {
    if (principal.kind !== 'person' && !hasRole(principal.role, 'leader'))
      throw forbiddenToAct(principal, agentId);
    if (isReserved(agentId)) throw reservedId(agentId);
    return;
  }
  if (principal.kind === 'person' && known.ownerUid === principal.uid) return;
  if (!hasRole(principal.role, 'leader')) throw forbiddenToAct(principal, agentId);
  if (!hasRole(principal.role, known.role)) throw forbiddenAbove(principal, known);
}

function reservedId(agentId: string): MusterError {
  return new MusterError('FORBIDDEN', 'Only onboarding.registerAgent makes ids that end like this.', {
    field: 'agent_id',
    value: agentId,
    suggestion: 'Choose an id that does not end in a hyphen and 16 hexadecimal digits.',
  });
}

function forbiddenAbove(principal: Principal, { id, role }: Agent): MusterError {
  return new MusterError('FORBIDDEN', `You may not register agent "${id}": its role is ${role}.`, {
    field: 'agent_id',
    value: id,
    suggestion: `Yours is ${principal.role}. It registers itself, or its owner in person or an admin does.`,
  });
}

function forbiddenToLead(principal: Principal): MusterError {
  return new MusterError('FORBIDDEN', `You may not register as a leader: your role is ${principal.role}.`, {
    field: 'role',
    value: 'leader',
    suggestion: 'Register as a worker, or use the credential of a leader.',
  });
}

function heartbeatNotNoted(): MusterError {
  return new MusterError('FIREBASE_ERROR', 'Your heartbeat could not be noted just now.', {
    suggestion: 'Send it again in a moment.',
  });
}

function newMember(principal: Principal, agentId: string, now: Date): Agent {
  return {
    id: agentId,
    name: agentId,
    type: 'specialist',
    version: '1.0.0',
    capabilities: [],
    configuration: USUAL_CONFIGURATION,
    ownerUid: principal.ownerUid,
    role: 'worker',
    status: 'active',
    registeredAt: now,
    lastSeen: now,
    ...NOTHING_DONE,
  };
}

function joined(agent: Agent, request: MembershipRequest, now: Date): Agent {
  const capabilities = request.capabilities?.map((one) =>
    typeof one === 'string' ? { name: one, category: 'declared' } : one,
  );
  const seen = seenAt(agent, now);
  return {
    ...seen,
    workspace: request.workspace,
    coordinationRole: request.role,
    milestones: { joined: now, ...seen.milestones },
    ...(capabilities && { capabilities }),
  };
}
