/** Explanations for agents that ask for a task and get none. */
import type { Agent } from '../../../agents/rules/agent.ts';
import type { Versioned } from '../../../kernel/commit.ts';
import { MemoCache } from '../../../kernel/memoCache.ts';
import { Service } from '../../../kernel/ports.ts';
import { readGlobs } from './files/globs.ts';
import { type HeldFiles, sharedFiles } from './files/heldFiles.ts';
import { waitText } from './files/reserving.ts';
import type { CoordinationPorts } from './ports.ts';
import { REVIEWS } from './proof/proofFields.ts';
import type { Session } from './session.ts';
import { stuckBy } from './stuck.ts';
import { capabilityKey, isClosed, satisfiedKeys, type Task } from './task.ts';

export const NO_TASK_REASONS = [
  'no_goal',
  'none',
  'all_blocked',
  'retry_later',
  'files',
  'capabilities',
  'taken',
  'own_work',
] as const;

export interface NoTask {
  readonly reason: (typeof NO_TASK_REASONS)[number];
  readonly explanation: string;
}

const MAX_SHOWN = 3;
const MAX_DEPENDENCIES_READ = 5;

/** Explanations are cached for this time, because callers may poll. */
const EXPLANATION_TTL_MS = 2000;

export function noTask(workspace: string): NoTask {
  return {
    reason: 'no_goal',
    explanation: `Workspace "${workspace}" has no goal and no tasks yet. Ask a leader to call coordination.init_coordination.`,
  };
}

/** Explains that only reviews of the agent's own work are waiting. */
export function ownWork({ id }: Task): NoTask {
  return {
    reason: 'own_work',
    explanation: `"${id}" is the review of work that you or your credential did. Another agent must claim it.`,
  };
}

/** State that a claim read. `growth`: that of the session, if it is known. */
export interface ClaimState {
  readonly session: Session;
  readonly agent: Versioned<Agent>;
  readonly growth: string | undefined;
  /** Reserved files, if they were read. */
  readonly held?: HeldFiles | undefined;
}

export class NoTaskExplainer extends Service<CoordinationPorts> {
  private readonly cache = new MemoCache<NoTask>();

  /** Explains why no task can be claimed; reads a few documents. @param retried the task whose retry is due next */
  explain({ session, agent, growth, held }: ClaimState, retried: Task | undefined, now: Date): Promise<NoTask> {
    const capabilities = [REVIEWS, ...agent.value.capability_details.map(({ name }) => name)];
    const key = JSON.stringify([session.id, capabilityKey(capabilities)]);
    const stamp = `${growth} ${Math.floor(now.getTime() / EXPLANATION_TTL_MS)}`;
    return this.cache.read(key, stamp, () => this.reason(session.id, capabilities, { retried, held }, now));
  }

  private async reason(
    session: string,
    capabilities: readonly string[],
    { retried, held }: { readonly retried: Task | undefined; readonly held: HeldFiles | undefined },
    now: Date,
  ): Promise<NoTask> {
    const { queue } = this.ports;
    const { items: pending } = await queue.list(session, 'pending', {}, { limit: MAX_SHOWN });
    if (pending.length > 0) return capabilitiesMissing(pending, await queue.count(session, 'pending'), capabilities);
    const { items: blocked } = await queue.list(session, 'blocked', {}, { limit: MAX_SHOWN });
    if (blocked.length === 0) {
      const explanation = 'No task is available: all are claimed or closed.';
      return { reason: 'none', explanation };
    }
    const files = retried && held && filesWaited(retried, held);
    if (files !== undefined) return files;
    const count = await queue.count(session, 'blocked');
    if (retried?.retry_at !== undefined) return retriedAt(retried, retried.retry_at, count, now);
    const waits = await this.waitingText(blocked);
    const explanation = `${tasksOf(count, 'is blocked', 'are blocked')}: ${waits.join('; ')}.`;
    return { reason: 'all_blocked', explanation };
  }

  private async waitingText(blocked: readonly Task[]): Promise<readonly string[]> {
    const ids = [...new Set(blocked.flatMap(({ dependencies }) => dependencies))].slice(0, MAX_DEPENDENCIES_READ);
    const found = (await this.ports.tasks.findAll(ids)).flatMap((task) => task?.value ?? []);
    const open = new Map(found.filter(({ status }) => !isClosed(status)).map((task) => [task.id, task]));
    return blocked.map((task) => {
      const { id, dependencies } = task;
      const by = stuckBy(task);
      if (by !== undefined) return `"${id}" can never start, because "${by}" failed or was cancelled`;
      const [first] = dependencies.flatMap((dependency) => open.get(dependency) ?? []);
      return first === undefined ? `"${id}"` : `"${id}" waits for "${first.id}" (${stateOf(first)})`;
    });
  }
}

function capabilitiesMissing(pending: readonly Task[], count: number, capabilities: readonly string[]): NoTask {
  const lacking = pending.filter(({ required_capabilities }) => {
    const key = capabilityKey(required_capabilities);
    return !satisfiedKeys([key], capabilities).includes(key);
  });
  if (lacking.length === 0)
    return { reason: 'taken', explanation: 'Other agents are claiming the available tasks. Repeat the call.' };
  const wanted = lacking.map(({ id, required_capabilities }) => `"${id}" requires ${required_capabilities.join(', ')}`);
  const coding = lacking.some((task) => task.coding !== undefined)
    ? ' Runners claim coding tasks, with coding.claim_task.'
    : '';
  return {
    reason: 'capabilities',
    explanation: `${tasksOf(count, 'is available', 'are available')}, but you lack the required capabilities: ${wanted.join('; ')}. Set your capabilities with coordination.register_agent.${coding}`,
  };
}

/** Returns the reason if the task waits for files that another task has. */
function filesWaited(task: Task, { tasks }: HeldFiles): NoTask | undefined {
  const { id, files_wait: holder = '' } = task;
  const entry = tasks[holder];
  if (entry === undefined) return undefined;
  const files = { project: task.coding?.project, files: readGlobs(task.context.files).globs };
  const [shared] = sharedFiles({ workspace: task.workspace, tasks: { [holder]: entry } }, id, files);
  const explanation = `"${id}" waits for ${shared?.file ?? 'files'}, which "${entry.agent_id}" has for "${holder}". Claim with share_files: true to work on it at the same time.`;
  return { reason: 'files', explanation };
}

function retriedAt(task: Task, at: Date, count: number, now: Date): NoTask {
  const seconds = Math.max(1, Math.ceil((at.getTime() - now.getTime()) / 1000));
  const others = count > 1 ? ` ${tasksOf(count - 1, 'is also blocked', 'are also blocked')}.` : '';
  const waits = waitText(task);
  const why = waits === undefined ? 'failed. It' : `cannot start yet. ${waits} The task`;
  return {
    reason: 'retry_later',
    explanation: `"${task.id}" ${why} can be claimed again at ${at.toISOString()}, in ${seconds} s.${others}`,
  };
}

function stateOf({ status, claim }: Task): string {
  return claim === undefined || status === 'available' ? status : `${status}, held by "${claim.claimed_by}"`;
}

function tasksOf(count: number, one: string, several: string): string {
  return count === 1 ? `1 task ${one}` : `${count} tasks ${several}`;
}
