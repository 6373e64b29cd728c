/**
 * What a new agent has to do, ticked by what it has done. Source: the network specification, onboarding.getChecklist;
 * docs/semantics.md#network.
 */
import type { Agent } from '../../../access/rules/agent.ts';
import { hasRole } from '../../../access/rules/role.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import texts from './checklist.json' with { type: 'json' };
import type { ProposedCall } from './welcome.ts';

/** What is known of an agent's first acts. */
export interface Facts {
  readonly agent: Agent;
  readonly firstDiscovery?: Date | undefined;
  readonly firstTaskCreated?: Date | undefined;
}

export type ChecklistItem = ReturnType<typeof item>;

/** @param call the one that does it, where there is one to make */
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

/** An agent without the role of a worker only looks on. */
export function checklist({ agent, firstDiscovery, firstTaskCreated }: Facts): readonly ChecklistItem[] {
  const { id: agent_id, type, milestones } = agent;
  const isWorker = hasRole(agent.role, 'worker');
  const connecting = isWorker ? callOf('heartbeat', { agent_id }) : callOf('get_status', {});
  const arriving = [
    item('register', true, agent.registeredAt),
    item('connect', true, milestones.seen, connecting),
  ];
  if (!isWorker) return arriving;
  const isLeading = leads(agent);
  const joining = callOf('register_agent', { agent_id, role: isLeading ? 'leader' : 'worker' });
  const creating = callOf('create_task', { description: 'What is to be done.' });
  const claiming = callOf('claim_task', { agent_id });
  const sharing = callOf('add_discovery', { agent_id, content: 'What you have found out.' });
  const completedAt = milestones.completed ?? agent.lastCompletedAt;
  const [task_id] = Object.keys(agent.held).sort();
  const reporting = callOf('complete_task', { agent_id, task_id, output: 'What came of it.' });
  const holding = {
    ...item('complete', !isLeading, completedAt, reporting),
    description: 'Do the task in hand, then report its result with an output in your own words.',
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

/** `percentage` is rounded down: 100 means that all is done. */
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

/** Whether an agent puts work into the queue, rather than taking it out. */
export function leads({ type, role }: Agent): boolean {
  return type === 'coordinator' && hasRole(role, 'leader');
}
