/** Welcome and checklist. Source: the network specification, "Onboarding Tools"; docs/semantics.md#network. */
import type { AccessPorts } from '../../../access/rules/ports.ts';
import type { Agent } from '../../../agents/rules/agent.ts';
import type { AgentLiveness } from '../../../agents/rules/liveness.ts';
import type { AgentRegistration } from '../../../agents/rules/registration.ts';
import { hasRoleIn, type Principal } from '../../../identity/rules/principal.ts';
import { hasRole } from '../../../identity/rules/role.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { isVisible, oneLine } from '../../../kernel/hiddenCharacters.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { type Hashing, type PortOf, Service } from '../../../kernel/ports.ts';
import texts from './checklist.json' with { type: 'json' };
import { type NewAgent, type ProposedCall, welcome } from './welcome.ts';

interface OnboardingPorts extends AccessPorts {
  readonly onboardingFacts: OnboardingFacts;
  readonly registration: PortOf<AgentRegistration>;
  readonly liveness: Pick<AgentLiveness, 'requireActable'>;
}

const MAX_CONTACTS = 5;

export class OnboardingService extends Service<OnboardingPorts> {
  /** @throws MusterError VALIDATION_ERROR if the name has no visible characters */
  welcome(principal: Principal, written: Omit<NewAgent, 'registration' | 'canLead'>) {
    const name = oneLine(written.name);
    if (!isVisible(name))
      throw new MusterError('VALIDATION_ERROR', 'agentName has no visible characters.', {
        field: 'agentName',
        suggestion: 'Use letters or digits.',
      });
    const ownName = registrationName(name, this.ports.hashing);
    return welcome({
      ...written,
      name,
      specializations: [...new Set(written.specializations.map(oneLine).filter(isVisible))],
      registration: { name: ownName, agentId: this.ports.registration.agentId(principal.owner_uid, ownName) },
      canLead: hasRoleIn(principal, written.workspace, 'leader'),
    });
  }

  /** Returns the ids of some agents that lead the workspace. */
  contacts(workspace: string): Promise<readonly string[]> {
    return this.ports.directory.leaders(workspace, MAX_CONTACTS);
  }

  /** Returns a checklist to its agent, the owner, leaders and admins. @throws MusterError NOT_FOUND for others */
  async checklist(principal: Principal, workspace: string, agentId: string): Promise<readonly ChecklistItem[]> {
    const { liveness, onboardingFacts } = this.ports;
    const agent = (await liveness.requireActable(principal, workspace, agentId))?.value;
    if (agent === undefined)
      throw new MusterError('NOT_FOUND', `Agent "${agentId}" not found, or you cannot see its checklist.`, {
        field: 'agentId',
        value: agentId,
        suggestion: 'Use your own agent id, as returned by onboarding.registerAgent.',
      });
    const [firstDiscovery, firstTaskCreated] = await Promise.all([
      onboardingFacts.discovery(agent.id),
      leads(agent) ? onboardingFacts.createdTask(agent.id) : undefined,
    ]);
    return checklist({ agent, firstDiscovery, firstTaskCreated });
  }
}

const MIN_LENGTH = 3;
const MAX_LENGTH = 50;

/** Replaces all characters of the name except letters, digits, "-" and "_". A digest keeps the result unique. */
export function registrationName(name: string, hashing: Hashing): string {
  const plain = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/^-+|-+$/g, '');
  if (plain === name && plain.length >= MIN_LENGTH && plain.length <= MAX_LENGTH) return plain;
  const digest = hashing.sha256(name).slice(0, 8);
  return `${plain.slice(0, MAX_LENGTH - digest.length - 1) || 'agent'}-${digest}`;
}

/** Times of an agent's first actions that are not stored in the agent's document. Each costs one read. */
export interface OnboardingFacts {
  discovery(agentId: string): Promise<Date | undefined>;
  /** Returns when the agent created its first task, according to the time in the task's id. */
  createdTask(agentId: string): Promise<Date | undefined>;
}

// The checklist of a new agent, completed by its actual activity. Source: the network specification,
// onboarding.getChecklist; docs/semantics.md#network.

/** Data about an agent that decides which items of its checklist are completed. */
export interface Facts {
  readonly agent: Agent;
  readonly firstDiscovery?: Date | undefined;
  readonly firstTaskCreated?: Date | undefined;
}

export type ChecklistItem = ReturnType<typeof item>;

/** @param call the call that completes the item, if a single call does */
function item(id: keyof typeof texts, required: boolean, completedAt: Date | undefined, call?: ProposedCall) {
  return {
    id,
    ...texts[id],
    required,
    completed: completedAt !== undefined,
    ...(completedAt && { completedAt }),
    ...(call && { call }),
  };
}

const callOf = (name: string, args: JsonObject): ProposedCall => ({ tool: `coordination.${name}`, args });

/** Returns an agent's checklist. An agent whose role is below worker gets only the items that need no work. */
export function checklist({ agent, firstDiscovery, firstTaskCreated }: Facts): readonly ChecklistItem[] {
  const { id: agent_id, type, milestones } = agent;
  const isWorker = hasRole(agent.role, 'worker');
  const connecting = isWorker ? callOf('heartbeat', { agent_id }) : callOf('get_status', {});
  const arriving = [item('register', true, agent.registered_at), item('connect', true, milestones.seen, connecting)];
  if (!isWorker) return arriving;
  const isLeading = leads(agent);
  const joining = callOf('register_agent', { agent_id, role: isLeading ? 'leader' : 'worker' });
  const creating = callOf('create_task', { description: 'Describe the task.' });
  const claiming = callOf('claim_task', { agent_id });
  const sharing = callOf('add_discovery', { agent_id, content: 'Describe your finding.' });
  const completedAt = milestones.completed ?? agent.last_completed_at;
  const [task_id] = Object.keys(agent.held).sort();
  const reporting = callOf('complete_task', { agent_id, task_id, output: 'Describe the result.' });
  const holding = {
    ...item('complete', !isLeading, completedAt, reporting),
    description: 'Do the task you hold, then report its result, with output in your own words.',
  };
  return [
    ...arriving,
    item('join', true, milestones.joined, joining),
    ...(isLeading ? [item('create', true, firstTaskCreated, creating)] : []),
    item('claim', !isLeading, milestones.claimed, claiming),
    task_id === undefined ? item('complete', !isLeading, completedAt, claiming) : holding,
    item('discover', type === 'researcher' || type === 'analyst', firstDiscovery, sharing),
  ];
}

/** Returns a checklist's progress. `percentage` is rounded down: 100 means that all items are completed. */
export function progressOf(items: readonly ChecklistItem[]) {
  const completed = items.filter((item) => item.completed).length;
  const total = items.length;
  return {
    completed,
    total,
    percentage: total === 0 ? 100 : Math.floor((completed * 100) / total),
    requiredRemaining: items.filter((item) => item.required && !item.completed).length,
  };
}

/** Returns whether the agent's work is to add tasks to the queue, not to claim them. */
export function leads({ type, role }: Agent): boolean {
  return type === 'coordinator' && hasRole(role, 'leader');
}
