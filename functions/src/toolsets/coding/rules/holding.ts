/** How a runner stands to a task that it has claimed. Pure. */
import { agentNotRegistered } from '../../../access/rules/agent.ts';
import type { Principal } from '../../../access/rules/principal.ts';
import type { AgentReader } from '../../../access/store/agents.ts';
import type { Change, Versioned } from '../../../kernel/commit.ts';
import { MusterError } from '../../../kernel/errors.ts';
import {
  asCodingTask,
  type Claim,
  type Claimant,
  type CodingTask,
  claimChanges,
  claimTask,
  codingClaimed,
  DEFAULT_LEASE_SECONDS,
  isClosed,
  isHeld,
  notClaimable,
  noteStart,
  renewLease,
  restoreClaim,
  type SessionReader,
  startTask,
  type Task,
  taskChanges,
  waitTask,
} from '../../coordination/index.ts';
import { codingStatus, isHolder } from './task.ts';

/** Why a runner is to stop working on a task. */
export interface Stop {
  readonly reason: 'ended' | 'claim_lost';
  readonly message: string;
}

export type ClaimStatus =
  | {
      readonly kind: 'holds';
      readonly task: CodingTask;
      /** Whether its lease had run out, and nobody had claimed the task since. */
      readonly isRestored: boolean;
    }
  /** Somebody has ended the task under it: what it still has to say is heard. */
  | { readonly kind: 'ended'; readonly stop: Stop }
  | { readonly kind: 'lost'; readonly stop: Stop };

/** A lease is renewed when less than this part of it is left, so that not every call writes. */
const RENEWAL = 2 / 3;

/** The lease of a claim that is given back, in seconds. */
const RESTORED_LEASE_SECONDS = 120;

export function claimStatusOf(task: CodingTask, claimant: Claimant, now: Date): ClaimStatus {
  const { claim } = task;
  const isTheirs = claim?.agentId === claimant.agentId && claim.epoch === claimant.epoch;
  if (isTheirs && isHeld(task.status)) return { kind: 'holds', task, isRestored: false };
  if (isTheirs && isClosed(task.status)) {
    const message = `Task ${task.id} was ended: it is ${codingStatus(task.status)}.`;
    return { kind: 'ended', stop: { reason: 'ended', message } };
  }
  const restored = restoreClaim(task, claimant, RESTORED_LEASE_SECONDS, now);
  if (restored?.claim !== undefined) {
    return { kind: 'holds', task: goneOn(task, restored, restored.claim), isRestored: true };
  }
  const message = `The claim of task ${task.id} with epoch ${claimant.epoch} is no longer good.`;
  return { kind: 'lost', stop: { reason: 'claim_lost', message } };
}

/** The attempt was not lost after all. */
function goneOn(before: CodingTask, restored: Task, claim: Claim): CodingTask {
  const { failure: _not, ...coding } = before.coding;
  return {
    ...restored,
    claim: { ...claim, isRunners: true },
    retries: Math.max(0, before.retries - 1),
    coding: { ...coding, attempts: coding.attempts.filter(({ epoch }) => epoch !== before.epoch) },
  };
}

/**
 * A sign of life: moves the task on, notes what is being done, and renews the lease where it is time.
 * @param state `started`: at least in progress
 * @throws MusterError CONFLICT where the state would go back
 */
export function applyHeartbeat(
  standing: Extract<ClaimStatus, { kind: 'holds' }>,
  claimant: Claimant,
  state: 'started' | 'in_progress' | 'waiting' | undefined,
  progress: string | undefined,
  now: Date,
): ClaimStatus {
  const moved = movedOn(standing.task, claimant, state, now);
  const said =
    progress === undefined || progress === moved.coding.progress
      ? moved
      : { ...moved, coding: { ...moved.coding, progress } };
  return {
    ...standing,
    task: isRenewalDue(said, standing.task, now) ? asCodingTask(renewLease(said, now)) : said,
  };
}

function movedOn(
  task: CodingTask,
  claimant: Claimant,
  state: 'started' | 'in_progress' | 'waiting' | undefined,
  now: Date,
): CodingTask {
  if (state === undefined) return task;
  const begun = task.status === 'claimed' ? asCodingTask(startTask(task, claimant, now)) : task;
  if (state === 'waiting' && begun.status === 'in_progress') return asCodingTask(waitTask(begun, claimant));
  if (state === 'in_progress' && begun.status === 'waiting') throw cannotGoBack(task.id);
  return begun;
}

/** What writes anyhow renews for nothing. */
function isRenewalDue(task: CodingTask, before: CodingTask, now: Date): boolean {
  const { claim } = task;
  if (claim === undefined) return false;
  const left = claim.leaseExpiresAt.getTime() - now.getTime();
  return task !== before || left < claim.leaseSeconds * 1000 * RENEWAL;
}

function cannotGoBack(taskId: string): MusterError {
  return new MusterError('CONFLICT', `Task "${taskId}" is waiting: it does not go back to in_progress.`, {
    field: 'state',
    reason: 'WRONG_STATE',
    suggestion: 'Leave state out to renew the lease, or report the outcome with end_task.',
  });
}

// Saying of a coding task that it is in progress: its holder does, and whoever decides about it.

interface Started {
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
  return { task, changes: claimChanges({ value: before, version }, task, agent, now) };
}

function nobodyToHold(taskId: string): MusterError {
  return new MusterError('CONFLICT', `Nobody works on task "${taskId}", and a person cannot hold it.`, {
    field: 'status',
    reason: 'NOT_HOLDER',
    suggestion:
      'Call as an agent to take it on, claim it for an agent of yours with claim_task {taskId, agentId}, or start a runner.',
  });
}
