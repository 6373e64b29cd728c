/** Agents in a workspace's coordination. Source: spec/coordination.md, register_agent and heartbeat. */

import {
  type Agent,
  agentNotRegistered,
  type Capability,
  countedAgent,
  forbiddenToAct,
  NOTHING_DONE,
  seenAt,
  skillChanges,
  USUAL_CONFIGURATION,
} from '../../../access/rules/agent.ts';
import { type AgentLiveness, touchPresence } from '../../../access/rules/liveness.ts';
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

export class AgentMembership extends Service<
  CoordinationPorts & { readonly liveness: Pick<AgentLiveness, 'revived'> }
> {
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
    const { workspace, agentId, role } = request;
    if (role === 'leader' && !hasRole(principal.role, 'leader')) {
      const message = `You may not register as a leader: your role is ${principal.role}.`;
      throw new MusterError('FORBIDDEN', message, {
        field: 'role',
        value: 'leader',
        suggestion: 'Register as a worker, or use the credential of a leader.',
      });
    }
    const { sessions, store, clock, randomness } = this.ports;
    const membership = await retryStale(randomness, async () => {
      const now = clock.now();
      const { agent: known, open } = await sessions.currentWithAgent(workspace, agentId);
      const before = known?.value;
      authoriseJoining(principal, agentId, before);
      const agent = joined(before ?? newMember(principal, agentId, now), request, now);
      const held = Object.entries(agent.held).find(([, task]) => task.session === open?.session.id);
      const outcome = { agent, currentTask: held?.[0] ?? null };
      const change: Change = known
        ? { kind: 'replaceAgent', agent, version: known.version }
        : { kind: 'createAgent', agent };
      const changes = [change, ...countedAgent(before, agent), ...skillChanges(before, agent)];
      await store.commit(changes, recordAnswer(outcome));
      return outcome;
    });
    await touchPresence(this.ports, agentId);
    return membership;
  }

  /** @throws MusterError NOT_FOUND when the agent is not registered */
  async heartbeat(
    principal: Principal,
    agentId: string,
    recordAnswer: RecordAnswer<undefined>,
  ): Promise<void> {
    // An agent's own credential was checked a moment ago, which read the agent and revived it.
    if (
      principal.agentId !== agentId &&
      (await this.ports.liveness.revived(principal, agentId)) === undefined
    )
      throw agentNotRegistered(agentId);
    if (!(await touchPresence(this.ports, agentId))) {
      throw new MusterError('FIREBASE_ERROR', 'Your heartbeat could not be noted just now.', {
        suggestion: 'Send it again in a moment.',
      });
    }
    await this.ports.store.commit([], recordAnswer(undefined));
  }
}

/**
 * People may register agents of their own; agents only themselves; leaders anyone who is not above them. Ids that
 * only onboarding.registerAgent makes are nobody's to choose, or somebody would take the id of another's agent to be.
 */
function authoriseJoining(principal: Principal, agentId: string, known: Agent | undefined): void {
  if (principal.agentId === agentId) return;
  const isPerson = principal.kind === 'person';
  const isLeader = hasRole(principal.role, 'leader');
  if (known === undefined) {
    if (!isPerson && !isLeader) throw forbiddenToAct(principal, agentId);
    if (!isReserved(agentId)) return;
    throw new MusterError('FORBIDDEN', 'Only onboarding.registerAgent makes ids that end like this.', {
      field: 'agent_id',
      value: agentId,
      suggestion: 'Choose an id that does not end in a hyphen and 16 hexadecimal digits.',
    });
  }
  if (isPerson && known.ownerUid === principal.uid) return;
  if (!isLeader) throw forbiddenToAct(principal, agentId);
  if (hasRole(principal.role, known.role)) return;
  throw new MusterError('FORBIDDEN', `You may not register agent "${agentId}": its role is ${known.role}.`, {
    field: 'agent_id',
    value: agentId,
    suggestion: `Yours is ${principal.role}. It registers itself, or its owner in person or an admin does.`,
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

function joined(agent: Agent, { workspace, role, capabilities }: MembershipRequest, now: Date): Agent {
  const seen = seenAt(agent, now);
  const declared = capabilities?.map((one) =>
    typeof one === 'string' ? { name: one, category: 'declared' } : one,
  );
  return {
    ...seen,
    workspace,
    coordinationRole: role,
    milestones: { joined: now, ...seen.milestones },
    ...(declared && { capabilities: declared }),
  };
}
