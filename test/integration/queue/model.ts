/** Model of the queue: a list of tasks, and the time when each agent was last seen. */
import type { Task } from '../../../functions/src/toolsets/coordination/rules/task.ts';

export const LEASE_SECONDS = 300;
const OFFLINE_SECONDS = 180;
const MAX_RETRIES = 3;

export type Outcome = 'done' | 'failed' | 'retry';

interface ModelTask {
  readonly id: string;
  readonly priority: number;
  readonly createdAt: number;
  /** Seconds since the team's start, or Infinity if the task has no deadline. */
  readonly deadline: number;
  readonly dependencies: readonly string[];
  status: 'available' | 'claimed' | 'in_progress' | 'done' | 'failed';
  epoch: number;
  /** Agent that holds or closed the task. */
  holder?: string | undefined;
  claimedAt: number;
  leaseEnds: number;
  expired: { agent: string; epoch: number }[];
  retries: number;
  retryAt?: number | undefined;
  outcome?: Outcome | undefined;
}

export class QueueModel {
  now = 0;
  tasks: ModelTask[] = [];
  readonly seen = new Map<string, number>();
  /** Maximum number of tasks that each agent may hold. */
  readonly limits: ReadonlyMap<string, number>;

  constructor(limits: ReadonlyMap<string, number>) {
    this.limits = limits;
    for (const agent of limits.keys()) this.seen.set(agent, 0);
  }

  /** Replaces the model's tasks with the stored tasks, after concurrent calls whose order is unknown. */
  resume(tasks: readonly Task[], start: number): void {
    const seconds = (date: Date | undefined): number => ((date?.getTime() ?? start) - start) / 1000;
    this.tasks = tasks.map((task) => ({
      id: task.id,
      priority: task.priority,
      createdAt: seconds(task.created_at),
      deadline: task.deadline ? seconds(task.deadline) : Infinity,
      dependencies: task.dependencies,
      status: task.status === 'waiting' || task.status === 'cancelled' ? 'failed' : task.status,
      epoch: task.claim_epoch,
      holder: task.claim?.claimed_by,
      claimedAt: seconds(task.claim?.claimed_at),
      leaseEnds: seconds(task.claim?.lease_expires_at),
      expired: task.lapsed_claims.map(({ agent_id: agentId, claim_epoch: epoch }) => ({ agent: agentId, epoch })),
      retries: task.retries,
      retryAt: task.retry_at && seconds(task.retry_at),
      outcome: task.status === 'done' ? 'done' : task.status === 'failed' ? 'failed' : undefined,
    }));
  }

  resumeSeen(seen: ReadonlyMap<string, Date>, now: Date): void {
    this.seen.clear();
    for (const [agent, at] of seen) this.seen.set(agent, this.now - (now.getTime() - at.getTime()) / 1000);
  }

  held(agent: string): ModelTask[] {
    return this.tasks.filter((task) => isHeld(task) && task.holder === agent);
  }

  create(id: string, priority: number, deadline: number, dependencies: readonly string[]): void {
    this.tasks.push({
      id,
      priority,
      deadline,
      dependencies,
      createdAt: this.now,
      status: 'available',
      epoch: 0,
      claimedAt: 0,
      leaseEnds: 0,
      expired: [],
      retries: 0,
    });
  }

  /** Returns the possible results of a claim: several if the agent claimed several tasks at the same time. */
  claim(agent: string): string[] {
    const held = this.held(agent);
    const unstarted = held.filter((task) => task.status === 'claimed');
    if (unstarted.length > 0 || held.length >= (this.limits.get(agent) ?? 1)) {
      const again = unstarted.length > 0 ? unstarted : held;
      const oldest = Math.min(...again.map((task) => task.claimedAt));
      return again.filter((task) => task.claimedAt === oldest).map((task) => `resumed ${task.id}`);
    }
    const task = this.firstReady() ?? this.firstRetry();
    if (task === undefined) return ['none'];
    task.retryAt = undefined;
    task.status = 'claimed';
    task.epoch += 1;
    task.holder = agent;
    task.claimedAt = this.now;
    task.leaseEnds = this.now + LEASE_SECONDS;
    return [`claimed ${task.id} ${task.epoch}`];
  }

  start(agent: string, id: string): string {
    const task = this.task(id);
    if (task?.holder !== agent) return 'refused';
    if (task.status === 'in_progress') return 'started';
    if (task.status !== 'claimed') return 'refused';
    task.status = 'in_progress';
    task.leaseEnds = this.now + LEASE_SECONDS;
    return 'started';
  }

  settle(agent: string, id: string, outcome: Outcome, epoch: number | undefined): string {
    const task = this.task(id);
    if (task === undefined) return 'refused';
    const isMine = task.holder === agent && (epoch === undefined || epoch === task.epoch);
    if (isMine && isHeld(task)) return this.accept(task, agent, outcome);
    if (isMine && task.outcome !== undefined)
      return (outcome === 'done') === (task.outcome === 'done') ? 'repeated' : 'refused';
    const expired = task.expired.findLast((one) => one.agent === agent && (epoch === undefined || epoch === one.epoch));
    if (expired === undefined) return 'refused';
    if (task.status === 'available' && expired.epoch === task.epoch) return this.accept(task, agent, outcome);
    return 'late';
  }

  touch(agent: string): void {
    this.seen.set(agent, this.now);
  }

  sweep(): void {
    for (const task of this.tasks) {
      if (isHeld(task) && task.leaseEnds <= this.now) this.lapse(task);
      if (task.status === 'available' && (task.retryAt ?? Infinity) <= this.now) task.retryAt = undefined;
    }
    for (const [agent, at] of this.seen) if (at <= this.now - OFFLINE_SECONDS) this.seen.delete(agent);
  }

  private lapse(task: ModelTask): void {
    const renewed = (this.seen.get(task.holder ?? '') ?? -Infinity) + LEASE_SECONDS;
    if (renewed > this.now) {
      task.leaseEnds = renewed;
      return;
    }
    task.status = 'available';
    task.expired.push({ agent: task.holder ?? '', epoch: task.epoch });
    task.holder = undefined;
  }

  private accept(task: ModelTask, agent: string, outcome: Outcome): string {
    if (outcome === 'retry' && task.retries < MAX_RETRIES) {
      task.status = 'available';
      task.holder = undefined;
      task.retryAt = this.now + 30 * 2 ** task.retries;
      task.retries += 1;
      task.expired = task.expired.filter((one) => one.epoch !== task.epoch);
      return 'accepted';
    }
    task.status = outcome === 'done' ? 'done' : 'failed';
    task.outcome = task.status;
    task.holder = agent;
    return 'accepted';
  }

  private firstReady(): ModelTask | undefined {
    return this.tasks
      .filter((task) => task.status === 'available' && task.retryAt === undefined && this.isFree(task))
      .sort(
        (a, b) =>
          a.priority - b.priority ||
          (a.deadline === b.deadline ? a.createdAt - b.createdAt : a.deadline - b.deadline) ||
          (a.id < b.id ? -1 : 1),
      )[0];
  }

  /** Returns the task whose retry delay ended first. A claim that finds no other task makes this task claimable. */
  private firstRetry(): ModelTask | undefined {
    return this.tasks
      .filter((task) => task.status === 'available' && (task.retryAt ?? Infinity) <= this.now)
      .sort((a, b) => Number(a.retryAt) - Number(b.retryAt) || (a.id < b.id ? -1 : 1))[0];
  }

  private isFree(task: ModelTask): boolean {
    return task.dependencies.every((id) => this.task(id)?.status === 'done');
  }

  private task(id: string): ModelTask | undefined {
    return this.tasks.find((task) => task.id === id);
  }
}

function isHeld(task: ModelTask): boolean {
  return task.status === 'claimed' || task.status === 'in_progress';
}
