/** Registration and heartbeats of agents. Source: the coordination specification, register_agent and heartbeat. */
import {
  type Agent,
  type Capability,
  countedAgent,
  DEFAULT_CONFIGURATION,
  markedSeen,
  NO_METRICS,
  requireWorkspaceLimit,
  skillChanges,
  terminalId,
} from '../../../agents/rules/agent.ts';
import { type AgentLiveness, callingAgent, mayReadMessages, touchPresence } from '../../../agents/rules/liveness.ts';
import { isReserved } from '../../../agents/rules/registration.ts';
import { accessOf, DEFAULT_WORKSPACE, type Principal, roleIn } from '../../../identity/rules/principal.ts';
import { hasRole, weakerOf } from '../../../identity/rules/role.ts';
import type { RecordResponse } from '../../../kernel/commit.ts';
import { retryOnConflict } from '../../../kernel/concurrency.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { Service } from '../../../kernel/ports.ts';
import type { Message } from './mailbox.ts';
import type { AgentMessages } from './messages.ts';
import type { CoordinationChange, CoordinationPorts } from './ports.ts';

interface MembershipRequest {
  readonly agentId: string;
  readonly role: 'leader' | 'worker';
  readonly workspace: string;
  readonly capabilities?: readonly (string | Capability)[] | undefined;
  /** Set only by runners. */
  readonly serves?: Agent['serves'] | undefined;
}

export interface Membership {
  readonly agent: Agent;
  readonly role: 'leader' | 'worker';
  readonly currentTask: string | null;
}

export class AgentMembership extends Service<
  CoordinationPorts & {
    readonly liveness: Pick<AgentLiveness, 'requireActable' | 'markedOnline'>;
    readonly messages: Pick<AgentMessages, 'unread' | 'markRead'>;
  }
> {
  /** Registers an agent, which may be a new terminal. @throws MusterError FORBIDDEN; QUOTA_EXCEEDED */
  async join(
    principal: Principal,
    request: MembershipRequest,
    recordResponse: RecordResponse<Membership>,
  ): Promise<Membership> {
    const { workspace, role } = request;
    const own = roleIn(principal, workspace);
    if (role === 'leader' && (own === undefined || !hasRole(own, 'leader'))) {
      const message = `You cannot register as a leader: your role is ${own ?? 'none'}.`;
      throw new MusterError('FORBIDDEN', message, {
        field: 'role',
        value: 'leader',
        suggestion: 'Register as a worker, or use the credential of a leader.',
      });
    }
    const { sessions, store, clock, randomness } = this.ports;
    const membership = await retryOnConflict(randomness, async () => {
      const now = clock.now();
      const agentId = await this.idFor(principal, request);
      const { agent: known, open } = await sessions.currentWithAgent(workspace, agentId);
      const before = known?.value;
      const agent = joined(before ?? newTerminal(principal, request, agentId, now), request, now);
      requireWorkspaceLimit(before, agent);
      const held = Object.entries(agent.held).find(([, task]) => task.session === open?.session.id);
      const outcome = { agent, role, currentTask: held?.[0] ?? null };
      const change: CoordinationChange = known
        ? { kind: 'replaceAgent', agent, before: known.value, version: known.version }
        : { kind: 'createAgent', agent };
      const changes = [change, ...countedAgent(before, agent), ...skillChanges(before, agent)];
      await store.commit(changes, recordResponse(outcome));
      return outcome;
    });
    await touchPresence(this.ports, membership.agent);
    return membership;
  }

  /** Returns the id of the caller's own agent, of an agent that the caller may act for, or of a new terminal. */
  private async idFor(principal: Principal, { workspace, agentId: name }: MembershipRequest): Promise<string> {
    if (principal.agent_id === name) return name;
    const { agents, hashing, liveness } = this.ports;
    const known = await liveness.requireActable(principal, workspace, name);
    if (known !== undefined) return known.value.id;
    const isPlain = canUsePlainId(principal, workspace) && !isReserved(name);
    const isFree = isPlain && (await agents.find(name)) === undefined;
    return isFree ? name : terminalId(hashing, principal, name);
  }

  /** Returns the unread messages. @param readUntil id of the last message read. @throws MusterError NOT_FOUND */
  async heartbeat(
    principal: Principal,
    { workspace, name, readUntil }: { workspace: string; name: string; readUntil?: string | undefined },
    recordResponse: RecordResponse<readonly Message[]>,
  ): Promise<readonly Message[]> {
    const { messages, store } = this.ports;
    // An agent with its own credential was read and marked as online when the credential was checked.
    const caller = callingAgent(principal);
    const agent =
      caller?.id === name
        ? { ...caller, has_messages: principal.has_messages === true, readsMessages: true }
        : await this.notYourAgent(principal, workspace, name);
    if (!(await touchPresence(this.ports, agent)))
      throw new MusterError('FIREBASE_ERROR', 'Your heartbeat could not be recorded.', {
        suggestion: 'Retry in a moment.',
      });
    if (readUntil !== undefined)
      return messages.markRead(agent, workspace, ({ id }) => id <= readUntil, recordResponse);
    const unread = await messages.unread(agent, workspace);
    await store.commit([], recordResponse(unread));
    return unread;
  }

  private async notYourAgent(principal: Principal, workspace: string, name: string) {
    const { value: agent } = await this.ports.liveness.markedOnline(principal, workspace, name);
    return { ...agent, readsMessages: mayReadMessages(principal, agent) };
  }
}

/**
 * Returns whether new terminals of the caller get the requested name as their id. In a private workspace, a name that
 * is taken would reveal agents of other workspaces, which only leaders of the deployment may know.
 */
function canUsePlainId({ owner }: Principal, workspace: string): boolean {
  const leads = owner.role !== undefined && hasRole(owner.role, 'leader');
  return leads || accessOf(owner.access, workspace) === 'open';
}

/** Returns a new terminal. It has no credential: the caller acts for it, with no more than the caller's own role. */
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
    configuration: DEFAULT_CONFIGURATION,
    owner_uid: principal.owner_uid,
    role: weakerOf('worker', principal.maxRole),
    ...(workspace !== DEFAULT_WORKSPACE && { workspace }),
    ...(id !== principal.agent_id && { registered_by: principal.uid }),
    status: 'active',
    registered_at: now,
    last_seen: now,
    ...NO_METRICS,
  };
}

function joined(
  agent: Agent,
  { workspace, role, capabilities, serves = agent.serves }: MembershipRequest,
  now: Date,
): Agent {
  const seen = markedSeen(agent, now);
  const declared = capabilities?.map((one) => (typeof one === 'string' ? { name: one, category: 'declared' } : one));
  return {
    ...seen,
    serves,
    parts: { ...seen.parts, [workspace]: role },
    milestones: { joined: now, ...seen.milestones },
    ...(declared && { capability_details: declared }),
  };
}
