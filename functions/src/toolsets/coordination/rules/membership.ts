/** Agents in a workspace's coordination. Source: the coordination specification, register_agent and heartbeat. */

import {
  type Agent,
  type Capability,
  countedAgent,
  NOTHING_DONE,
  requireFewWorkspaces,
  seenAt,
  skillChanges,
  terminalId,
  USUAL_CONFIGURATION,
} from '../../../agents/rules/agent.ts';
import {
  type AgentLiveness,
  callingAgent,
  mayReadMessages,
  touchPresence,
} from '../../../agents/rules/liveness.ts';
import { isReserved } from '../../../agents/rules/registration.ts';
import { accessOf, DEFAULT_WORKSPACE, type Principal, roleIn } from '../../../identity/rules/principal.ts';
import { hasRole, weaker } from '../../../identity/rules/role.ts';
import type { RecordAnswer } from '../../../kernel/commit.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { Service } from '../../../kernel/ports.ts';
import { retryStale } from '../../../kernel/waiting.ts';
import type { Message } from './mailbox.ts';
import type { AgentMessages } from './messages.ts';
import type { CoordinationChange, CoordinationPorts } from './ports.ts';

interface MembershipRequest {
  readonly agentId: string;
  readonly role: 'leader' | 'worker';
  readonly workspace: string;
  /** By name, or with all that is to be told of them. */
  readonly capabilities?: readonly (string | Capability)[] | undefined;
  /** Of a runner. */
  readonly serves?: Agent['serves'] | undefined;
}

export interface Membership {
  readonly agent: Agent;
  readonly role: 'leader' | 'worker';
  readonly currentTask: string | null;
}

export class AgentMembership extends Service<
  CoordinationPorts & {
    readonly liveness: Pick<AgentLiveness, 'actable' | 'revived'>;
    readonly messages: Pick<AgentMessages, 'unread' | 'markRead'>;
  }
> {
  /**
   * Registers an agent in a workspace: a known one, or a new one without a credential of its own that the
   * caller acts for.
   * @throws MusterError FORBIDDEN for another's agent, or for the part of a leader without that role; QUOTA_EXCEEDED
   */
  async join(
    principal: Principal,
    request: MembershipRequest,
    recordAnswer: RecordAnswer<Membership>,
  ): Promise<Membership> {
    const { workspace, role } = request;
    const own = roleIn(principal, workspace);
    if (role === 'leader' && (own === undefined || !hasRole(own, 'leader'))) {
      const message = `You may not register as a leader: your role is ${own ?? 'none'}.`;
      throw new MusterError('FORBIDDEN', message, {
        field: 'role',
        value: 'leader',
        suggestion: 'Register as a worker, or use the credential of a leader.',
      });
    }
    const { sessions, store, clock, randomness } = this.ports;
    const membership = await retryStale(randomness, async () => {
      const now = clock.now();
      const agentId = await this.idFor(principal, request);
      const { agent: known, open } = await sessions.currentWithAgent(workspace, agentId);
      const before = known?.value;
      const agent = joined(before ?? newTerminal(principal, request, agentId, now), request, now);
      requireFewWorkspaces(before, agent);
      const held = Object.entries(agent.held).find(([, task]) => task.session === open?.session.id);
      const outcome = { agent, role, currentTask: held?.[0] ?? null };
      const change: CoordinationChange = known
        ? { kind: 'replaceAgent', agent, before: known.value, version: known.version }
        : { kind: 'createAgent', agent };
      const changes = [change, ...countedAgent(before, agent), ...skillChanges(before, agent)];
      await store.commit(changes, recordAnswer(outcome));
      return outcome;
    });
    await touchPresence(this.ports, membership.agent);
    return membership;
  }

  /** The agent's id: the caller's own, one that it may act as, or a new one; the chosen name where nobody has or would get it. */
  private async idFor(
    principal: Principal,
    { workspace, agentId: name }: MembershipRequest,
  ): Promise<string> {
    if (principal.agent_id === name) return name;
    const { agents, hashing, liveness } = this.ports;
    const known = await liveness.actable(principal, workspace, name);
    if (known !== undefined) return known.value.id;
    const isPlain = mayTakePlainId(principal, workspace) && !isReserved(name);
    const isFree = isPlain && (await agents.find(name)) === undefined;
    return isFree ? name : terminalId(hashing, principal, name);
  }

  /** @returns the messages after `readUntil`, the last that it has read. @throws MusterError NOT_FOUND */
  async heartbeat(
    principal: Principal,
    { workspace, name, readUntil }: { workspace: string; name: string; readUntil?: string | undefined },
    recordAnswer: RecordAnswer<readonly Message[]>,
  ): Promise<readonly Message[]> {
    const { messages, store } = this.ports;
    // An agent's own credential was checked a moment ago, which read the agent and revived it.
    const caller = callingAgent(principal);
    const agent =
      caller?.id === name
        ? { ...caller, has_messages: principal.has_messages === true, readsMessages: true }
        : await this.othersAgent(principal, workspace, name);
    if (!(await touchPresence(this.ports, agent))) {
      throw new MusterError('FIREBASE_ERROR', 'Your heartbeat could not be noted just now.', {
        suggestion: 'Send it again in a moment.',
      });
    }
    if (readUntil !== undefined) return messages.markRead(agent, workspace, readUntil, recordAnswer);
    const unread = await messages.unread(agent, workspace);
    await store.commit([], recordAnswer(unread));
    return unread;
  }

  private async othersAgent(principal: Principal, workspace: string, name: string) {
    const { value: agent } = await this.ports.liveness.revived(principal, workspace, name);
    return { ...agent, readsMessages: mayReadMessages(principal, agent) };
  }
}

/**
 * Whether the caller's new terminals get their names for ids. Whether a name is free would tell the members of a private
 * workspace of agents that they must not know of; whoever leads the deployment opens workspaces, and knows names anyway.
 */
function mayTakePlainId({ owner }: Principal, workspace: string): boolean {
  const leads = owner.role !== undefined && hasRole(owner.role, 'leader');
  return leads || accessOf(owner.access, workspace) === 'open';
}

/** A terminal has no credential: it can do what its caller can, who acts as it. */
function newTerminal(
  principal: Principal,
  { workspace, agentId: name }: MembershipRequest,
  id: string,
  now: Date,
): Agent {
  return {
    id,
    name,
    type: 'specialist',
    version: '1.0.0',
    capability_details: [],
    configuration: USUAL_CONFIGURATION,
    owner_uid: principal.owner_uid,
    role: weaker('worker', principal.maxRole),
    ...(workspace !== DEFAULT_WORKSPACE && { workspace }),
    ...(id !== principal.agent_id && { registered_by: principal.uid }),
    status: 'active',
    registered_at: now,
    last_seen: now,
    ...NOTHING_DONE,
  };
}

function joined(
  agent: Agent,
  { workspace, role, capabilities, serves = agent.serves }: MembershipRequest,
  now: Date,
): Agent {
  const seen = seenAt(agent, now);
  const declared = capabilities?.map((one) =>
    typeof one === 'string' ? { name: one, category: 'declared' } : one,
  );
  return {
    ...seen,
    serves,
    parts: { ...seen.parts, [workspace]: role },
    milestones: { joined: now, ...seen.milestones },
    ...(declared && { capability_details: declared }),
  };
}
