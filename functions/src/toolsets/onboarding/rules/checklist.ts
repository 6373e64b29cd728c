/**
 * What a new agent has to do, ticked by what it has done. Source: spec/network.md, onboarding.getChecklist;
 * docs/semantics.md#network.
 */
import type { Agent } from '../../../access/rules/agent.ts';
import { hasRole } from '../../../access/rules/principal.ts';
import type { ProposedCall } from './welcome.ts';

/** What is known of an agent's first acts. */
export interface Facts {
  readonly agent: Agent;
  readonly firstDiscovery?: Date | undefined;
  readonly firstTaskCreated?: Date | undefined;
}

export interface ChecklistItem {
  readonly id: string;
  readonly category: 'identity' | 'coordination' | 'work' | 'knowledge';
  readonly title: string;
  readonly description: string;
  readonly required: boolean;
  readonly completed: boolean;
  readonly completedAt?: Date;
  /** The items that come before it. */
  readonly dependencies: readonly string[];
  /** The call that does it, where there is one to make. */
  readonly call?: ProposedCall;
}

interface Progress {
  readonly completed: number;
  readonly total: number;
  /** Rounded down: 100 means that all is done. */
  readonly percentage: number;
  readonly requiredRemaining: number;
}

/** An agent without the role of a worker only looks on. */
export function checklist(facts: Facts): readonly ChecklistItem[] {
  const { agent } = facts;
  if (!hasRole(agent.role, 'worker')) return identity(facts);
  const isLeading = leads(agent);
  return [
    ...identity(facts),
    joining(facts),
    ...(isLeading ? [creating(facts)] : []),
    claiming(facts, !isLeading),
    completing(facts, !isLeading),
    discovering(facts, agent.type === 'researcher' || agent.type === 'analyst'),
  ];
}

export function progressOf(items: readonly ChecklistItem[]): Progress {
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

function done(at: Date | undefined): Pick<ChecklistItem, 'completed' | 'completedAt'> {
  return at === undefined ? { completed: false } : { completed: true, completedAt: at };
}

function identity({ agent }: Facts): readonly ChecklistItem[] {
  const isWorker = hasRole(agent.role, 'worker');
  return [
    {
      id: 'register',
      category: 'identity',
      title: 'Register',
      description: 'You have an identity of your own.',
      required: true,
      ...done(agent.registeredAt),
      dependencies: [],
    },
    {
      id: 'connect',
      category: 'identity',
      title: 'Call with your own credential',
      description: 'Any call with "Authorization: Bearer <apiKey>.<secret>" of your registration.',
      required: true,
      ...done(agent.milestones.seen),
      dependencies: ['register'],
      call: isWorker
        ? { tool: 'coordination.heartbeat', args: { agent_id: agent.id } }
        : { tool: 'coordination.get_status', args: {} },
    },
  ];
}

function joining({ agent }: Facts): ChecklistItem {
  const role = leads(agent) ? 'leader' : 'worker';
  return {
    id: 'join',
    category: 'coordination',
    title: 'Join the workspace',
    description: 'Take your part in the coordination of this workspace.',
    required: true,
    ...done(agent.milestones.joined),
    dependencies: ['connect'],
    call: { tool: 'coordination.register_agent', args: { agent_id: agent.id, role } },
  };
}

function creating({ firstTaskCreated }: Facts): ChecklistItem {
  return {
    id: 'create',
    category: 'coordination',
    title: 'Put a first task into the queue',
    description: 'Say what is to be done, in your own words.',
    required: true,
    ...done(firstTaskCreated),
    dependencies: ['join'],
    call: { tool: 'coordination.create_task', args: { description: 'What is to be done.' } },
  };
}

function claiming({ agent }: Facts, required: boolean): ChecklistItem {
  return {
    id: 'claim',
    category: 'work',
    title: 'Claim a first task',
    description: 'You get the first task that you may do. Where none is ready, come back in a while.',
    required,
    ...done(agent.milestones.claimed),
    dependencies: ['join'],
    call: { tool: 'coordination.claim_task', args: { agent_id: agent.id } },
  };
}

function completing({ agent }: Facts, required: boolean): ChecklistItem {
  const [taskId] = Object.keys(agent.held).sort();
  const at = agent.milestones.completed ?? agent.lastCompletedAt;
  return {
    id: 'complete',
    category: 'work',
    title: 'Finish a first task',
    description:
      taskId === undefined
        ? 'Claim a task; the call that reports its result then stands here.'
        : 'Do the task in hand, then report its result with an output in your own words.',
    required,
    ...done(at),
    dependencies: ['claim'],
    call:
      taskId === undefined
        ? { tool: 'coordination.claim_task', args: { agent_id: agent.id } }
        : {
            tool: 'coordination.complete_task',
            args: { agent_id: agent.id, task_id: taskId, output: 'What came of it.' },
          },
  };
}

function discovering({ agent, firstDiscovery }: Facts, required: boolean): ChecklistItem {
  return {
    id: 'discover',
    category: 'knowledge',
    title: 'Share a discovery',
    description: 'Tell the others something that you have found out, in your own words.',
    required,
    ...done(firstDiscovery),
    dependencies: ['join'],
    call: {
      tool: 'coordination.add_discovery',
      args: { agent_id: agent.id, content: 'What you have found out.' },
    },
  };
}
