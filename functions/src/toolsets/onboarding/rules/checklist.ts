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

/** An item and when it was done. */
interface Step {
  readonly id: string;
  readonly category: 'identity' | 'coordination' | 'work' | 'knowledge';
  readonly title: string;
  readonly description: string;
  readonly required: boolean;
  readonly at: Date | undefined;
  /** The items that come before it. */
  readonly dependencies: readonly string[];
  /** The call that does it, where there is one to make. */
  readonly call?: ProposedCall;
}

export interface ChecklistItem extends Omit<Step, 'at'> {
  readonly completed: boolean;
  readonly completedAt?: Date;
}

/** An agent without the role of a worker only looks on. */
export function checklist(facts: Facts): readonly ChecklistItem[] {
  const isWorker = hasRole(facts.agent.role, 'worker');
  const steps = [...arriving(facts.agent, isWorker), ...(isWorker ? working(facts) : [])];
  return steps.map(({ at, ...item }) => ({
    ...item,
    completed: at !== undefined,
    ...(at && { completedAt: at }),
  }));
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

function arriving({ id, registeredAt, milestones }: Agent, isWorker: boolean): readonly Step[] {
  return [
    {
      id: 'register',
      category: 'identity',
      title: 'Register',
      description: 'You have an identity of your own.',
      required: true,
      at: registeredAt,
      dependencies: [],
    },
    {
      id: 'connect',
      category: 'identity',
      title: 'Call with your own credential',
      description: 'Any call with "Authorization: Bearer <apiKey>.<secret>" of your registration.',
      required: true,
      at: milestones.seen,
      dependencies: ['register'],
      call: isWorker
        ? { tool: 'coordination.heartbeat', args: { agent_id: id } }
        : { tool: 'coordination.get_status', args: {} },
    },
  ];
}

function working({ agent, firstDiscovery, firstTaskCreated }: Facts): readonly Step[] {
  const { id: agent_id, type, milestones } = agent;
  const isLeading = leads(agent);
  const role = isLeading ? 'leader' : 'worker';
  const claim = { tool: 'coordination.claim_task', args: { agent_id } };
  const [task_id] = Object.keys(agent.held).sort();
  const reported = { agent_id, task_id, output: 'What came of it.' };
  const creating: Step = {
    id: 'create',
    category: 'coordination',
    title: 'Put a first task into the queue',
    description: 'Say what is to be done, in your own words.',
    required: true,
    at: firstTaskCreated,
    dependencies: ['join'],
    call: { tool: 'coordination.create_task', args: { description: 'What is to be done.' } },
  };
  return [
    {
      id: 'join',
      category: 'coordination',
      title: 'Join the workspace',
      description: 'Take your part in the coordination of this workspace.',
      required: true,
      at: milestones.joined,
      dependencies: ['connect'],
      call: { tool: 'coordination.register_agent', args: { agent_id, role } },
    },
    ...(isLeading ? [creating] : []),
    {
      id: 'claim',
      category: 'work',
      title: 'Claim a first task',
      description: 'You get the first task that you may do. Where none is ready, come back in a while.',
      required: !isLeading,
      at: milestones.claimed,
      dependencies: ['join'],
      call: claim,
    },
    {
      id: 'complete',
      category: 'work',
      title: 'Finish a first task',
      description:
        task_id === undefined
          ? 'Claim a task; the call that reports its result then stands here.'
          : 'Do the task in hand, then report its result with an output in your own words.',
      required: !isLeading,
      at: milestones.completed ?? agent.lastCompletedAt,
      dependencies: ['claim'],
      call: task_id === undefined ? claim : { tool: 'coordination.complete_task', args: reported },
    },
    {
      id: 'discover',
      category: 'knowledge',
      title: 'Share a discovery',
      description: 'Tell the others something that you have found out, in your own words.',
      required: type === 'researcher' || type === 'analyst',
      at: firstDiscovery,
      dependencies: ['join'],
      call: {
        tool: 'coordination.add_discovery',
        args: { agent_id, content: 'What you have found out.' },
      },
    },
  ];
}
