/** Coding tasks: their status, configuration and holder. Source: docs/semantics.md#one-model. */
import { z } from 'zod';
import type { ActingAgent, AgentLiveness } from '../../../agents/rules/liveness.ts';
import type { BudgetPorts } from '../../../graph/rules/ports.ts';
import type { Principal } from '../../../identity/rules/principal.ts';
import type { Store, Versioned } from '../../../kernel/commit.ts';
import { retryOnConflict } from '../../../kernel/concurrency.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { jsonObject, requireSize } from '../../../kernel/json.ts';
import { type PortOf, readUnreadable } from '../../../kernel/ports.ts';
import {
  type AgentMessages,
  type Claimant,
  type CodingTask,
  type CoordinationPorts,
  type Failure,
  type OwnerPorts,
  type Proofs,
  requireCodingTask,
  type SharedFile,
  type TaskClaims,
  type TaskCreation,
  type TaskStatus,
} from '../../coordination/index.ts';
import type { CodingChange, CodingTaskQueries, TaskLogQueries } from './ports.ts';

export interface CodingPorts extends CoordinationPorts, BudgetPorts, OwnerPorts {
  readonly store: Store<CodingChange>;
  readonly codingTasks: CodingTaskQueries;
  readonly taskLogs: TaskLogQueries;
  readonly liveness: PortOf<AgentLiveness>;
  readonly taskCreation: PortOf<TaskCreation>;
  readonly taskClaims: PortOf<TaskClaims>;
  readonly messages: Pick<AgentMessages, 'markRead' | 'receive'>;
  readonly proofs: PortOf<Proofs>;
}

export interface TaskReference {
  readonly workspace: string;
  readonly taskId: string;
}

/** Returns a coding task. @throws MusterError NOT_FOUND if the workspace has no coding task with this id */
export async function findCodingTask(
  tasks: CodingPorts['tasks'],
  { workspace, taskId }: TaskReference,
): Promise<Versioned<CodingTask>> {
  const found = await readUnreadable((one) => one === workspace, tasks.find(taskId));
  return requireCodingTask(found, taskId, workspace);
}

/** Reads and changes a coding task, and retries on a conflict. @throws MusterError NOT_FOUND */
export function changeTask<Result>(
  { tasks, clock, randomness }: CodingPorts,
  { workspace, taskId }: TaskReference,
  attempt: (found: Versioned<CodingTask>, now: Date) => Promise<Result>,
): Promise<Result> {
  return retryOnConflict(randomness, async () =>
    attempt(await findCodingTask(tasks, { workspace, taskId }), clock.now()),
  );
}

export const CODING_STATUSES = ['pending', 'in_progress', 'completed', 'failed'] as const;
type CodingStatus = (typeof CODING_STATUSES)[number];

const WORDS: Readonly<Record<TaskStatus, CodingStatus>> = {
  available: 'pending',
  claimed: 'pending',
  in_progress: 'in_progress',
  waiting: 'in_progress',
  done: 'completed',
  failed: 'failed',
  cancelled: 'failed',
};

export function codingStatus(status: TaskStatus): CodingStatus {
  return WORDS[status];
}

const MAX_CONFIG_BYTES = 16_000;
const DAY_SECONDS = 24 * 60 * 60;
const MIN_QUEUE_SECONDS = 60;
const MAX_QUEUE_SECONDS = 7 * DAY_SECONDS;
const queueTime = z.int().min(MIN_QUEUE_SECONDS).max(MAX_QUEUE_SECONDS).default(DAY_SECONDS);

/** Name of a repository that a runner serves. It is part of capability keys, in which "|" is the separator. */
export const projectName = z.string().regex(/^[^\s|][^|\p{C}]{0,79}$/u);

/** Returns a task's configuration, and those fields that Muster reads. @throws MusterError VALIDATION_ERROR */
export function codingConfig(config: Readonly<Record<string, unknown>> = {}) {
  requireSize('The configuration', 'config', config, MAX_CONFIG_BYTES);
  const { data: queueSeconds } = queueTime.safeParse(config.queueSeconds);
  if (queueSeconds === undefined)
    throw new MusterError('VALIDATION_ERROR', 'config.queueSeconds must be a whole number in range.', {
      field: 'config.queueSeconds',
      suggestion: `Use ${MIN_QUEUE_SECONDS} to ${MAX_QUEUE_SECONDS}, or omit it for one day.`,
    });
  const { success, data: project } = projectName.optional().safeParse(config.project);
  if (!success)
    throw new MusterError('VALIDATION_ERROR', 'config.project must be text of at most 80 characters.', {
      field: 'config.project',
      suggestion: 'Use owner/name, or the label that the runner uses for the repository. Neither may contain "|".',
    });
  return { config: jsonObject.parse(config), queue_seconds: queueSeconds, ...(project !== undefined && { project }) };
}

const MAX_SLUG_LENGTH = 40;

/** Returns the default branch of a task: `task/<id8>-<slug>`. Source: docs/semantics.md#coding. */
export function defaultBranch(taskId: string, description: string): string {
  const id = taskId.replace(/^task-|-\d+$/g, '').slice(-8);
  const slug = description
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_SLUG_LENGTH)
    .replace(/^-+|-+$/g, '');
  return slug === '' ? `task/${id}` : `task/${id}-${slug}`;
}

/** Returns whether the caller is the agent that holds the task or that closed the task. */
export function isHolder(principal: Principal, task: CodingTask): boolean {
  return principal.agent_id !== undefined && task.claim?.claimed_by === principal.agent_id;
}

/** Returns the holder of a claim, and as which agent the caller acts, if any. @throws MusterError FORBIDDEN */
export async function claimantOf(
  { liveness }: CodingPorts,
  principal: Principal,
  task: CodingTask,
  epoch: number,
): Promise<{ readonly claimant: Claimant; readonly agent?: ActingAgent }> {
  const { claim, lapsed_claims: expired } = task;
  const holder =
    claim?.claim_epoch === epoch
      ? claim.claimed_by
      : expired.findLast((former) => former.claim_epoch === epoch)?.agent_id;
  const id = holder ?? principal.agent_id;
  const agent = id === undefined ? undefined : await liveness.acting(principal, task.workspace, id);
  return { claimant: { agent_id: id ?? principal.uid, claim_epoch: epoch }, ...(agent && { agent }) };
}

export interface EndReport {
  readonly status: 'completed' | 'failed';
  /** Any JSON value; undefined if there is no result. */
  readonly result?: unknown;
  readonly failure?: ReportedFailure | undefined;
}

export interface EndedTask extends ReadTask {
  /** `verifying`: the result is handed in and not yet proven. `sent_back`: it is available again, to be corrected. */
  readonly outcome: 'ended' | 'retried' | 'returned' | 'repeated' | 'kept' | 'late' | 'verifying' | 'sent_back';
}

export type ReportedFailure = Failure & {
  readonly retryable?: boolean | undefined;
  /** If set, the holder returns the task. The task is available after this delay, and the attempt does not count. */
  readonly returnAfterSeconds?: number | undefined;
};

export interface ReadTask {
  readonly task: CodingTask;
  readonly now: Date;
  /** Files that other tasks have too, if this call claimed the task. */
  readonly shared?: readonly SharedFile[];
}
