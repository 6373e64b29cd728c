/** Saying of a coding task that it is in progress: its holder does, and whoever decides about it. */
import { holding } from '../agents/agent.ts';
import { countedAgent } from '../agents/counting.ts';
import { MusterError } from '../errors.ts';
import { agentNotRegistered } from '../missing.ts';
import type { Principal } from '../principal.ts';
import type { AgentReader, SessionReader } from '../readers.ts';
import type { Change, Versioned } from '../store.ts';
import { taskChanges } from '../tasks/changes.ts';
import { claimTask, noteStart, startTask } from '../tasks/machine.ts';
import { DEFAULT_LEASE_SECONDS } from '../tasks/queue.ts';
import { isHolder } from './authority.ts';
import { codingClaimed, notClaimable } from './claiming.ts';
import { codingStatus } from './status.ts';
import { asCodingTask, type CodingTask } from './task.ts';

export interface Started {
  readonly task: CodingTask;
  readonly changes: readonly Change[];
}

/**
 * A task that nobody holds becomes the caller's own, who works on it without a runner: nothing is in progress that
 * nobody would be missed at. Of one that a runner has claimed it is only noted; its claim and its lease stay.
 * @throws MusterError CONFLICT where it has ended, cannot be claimed, or the caller cannot hold tasks
 */
export async function startByDecision(
  readers: { readonly agents: AgentReader; readonly sessions: SessionReader },
  principal: Principal,
  { value: before, version }: Versioned<CodingTask>,
  now: Date,
): Promise<Started> {
  if (codingStatus(before.status) === 'in_progress') return { task: before, changes: [] };
  if (before.status === 'available') return takeOn(readers, principal, { value: before, version }, now);
  const claimant = { agentId: principal.agentId ?? principal.uid };
  const task = isHolder(principal, before) ? startTask(before, claimant, now) : noteStart(before, now);
  return { task: asCodingTask(task), changes: taskChanges(before, task, version, now) };
}

async function takeOn(
  { agents, sessions }: { readonly agents: AgentReader; readonly sessions: SessionReader },
  { agentId }: Principal,
  { value: before, version }: Versioned<CodingTask>,
  now: Date,
): Promise<Started> {
  if (agentId === undefined) throw nobodyToHold(before.id);
  const [agent, open] = await Promise.all([agents.find(agentId), sessions.current(before.workspace)]);
  if (agent === undefined) throw agentNotRegistered(agentId);
  if (open?.session.id !== before.session)
    throw notClaimable(before.id, 'its session was archived', 'Create another task.');
  const claimed = codingClaimed(claimTask(before, agentId, DEFAULT_LEASE_SECONDS, now), undefined);
  const task = asCodingTask(startTask(claimed, { agentId }, now));
  const holder = holding(agent.value, task.id, { session: task.session, epoch: task.epoch }, now);
  return {
    task,
    changes: [
      ...taskChanges(before, task, version, now),
      { kind: 'holdTask', agent: holder, taskId: task.id, version: agent.version },
      ...countedAgent(agent.value, holder),
    ],
  };
}

function nobodyToHold(taskId: string): MusterError {
  return new MusterError('CONFLICT', `Nobody works on task "${taskId}", and a person cannot hold it.`, {
    field: 'status',
    reason: 'NOT_HOLDER',
    suggestion:
      'Call as an agent to take it on, claim it for an agent of yours with claim_task {taskId, agentId}, or start a runner.',
  });
}
