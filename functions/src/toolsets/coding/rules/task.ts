/** Coding tasks: their state, their configuration, and who may decide on them. Source: docs/semantics.md#one-model. */
import { hasRole, type Principal } from '../../../access/rules/principal.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { type JsonObject, jsonObject, requireSize } from '../../../kernel/json.ts';
import type { Claimant, CodingTask, CoordinationPorts, TaskStatus } from '../../coordination/index.ts';
import type { TaskLogReader } from '../store/logs.ts';
import type { CodingTaskReader, CodingWatch } from '../store/tasks.ts';

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

// What of a task's configuration Muster itself goes by; the rest is between its creator and its runner.

const MAX_CONFIG_BYTES = 16_000;

const DAY_SECONDS = 24 * 60 * 60;
const MIN_QUEUE_SECONDS = 60;
const MAX_QUEUE_SECONDS = 7 * DAY_SECONDS;

/** What a runner may call its repository. Part of a capability's name, which "|" would end. */
const PROJECT = /^[^\s|][^|\p{C}]{0,79}$/u;

interface CodingConfig {
  readonly config: JsonObject;
  readonly project?: string;
  readonly queueSeconds: number;
}

/** @throws MusterError VALIDATION_ERROR */
export function codingConfig(config: Readonly<Record<string, unknown>> = {}): CodingConfig {
  requireSize('The configuration', 'config', config, MAX_CONFIG_BYTES);
  const { project, queueSeconds } = config;
  return {
    config: jsonObject.parse(config),
    queueSeconds: secondsOf(queueSeconds),
    ...(project !== undefined && { project: projectOf(project) }),
  };
}

function secondsOf(value: unknown): number {
  if (value === undefined) return DAY_SECONDS;
  const isWhole = typeof value === 'number' && Number.isInteger(value);
  if (isWhole && value >= MIN_QUEUE_SECONDS && value <= MAX_QUEUE_SECONDS) return value;
  throw new MusterError('VALIDATION_ERROR', 'A task waits a whole number of seconds for a runner.', {
    field: 'config.queueSeconds',
    suggestion: `Give a number from ${MIN_QUEUE_SECONDS} to ${MAX_QUEUE_SECONDS}, or leave it out for a day.`,
  });
}

function projectOf(value: unknown): string {
  if (typeof value === 'string' && isProject(value)) return value;
  throw new MusterError('VALIDATION_ERROR', 'A project is named by text.', {
    field: 'config.project',
    suggestion:
      'Name the repository as owner/name, or by the label that its runner reports: at most 80 characters.',
  });
}

export function isProject(name: string): boolean {
  return PROJECT.test(name);
}

const MAX_SLUG_LENGTH = 40;

/** The branch of a task that names none: `task/<id8>-<slug>`. Source: docs/semantics.md#coding. */
export function usualBranch(taskId: string, description: string): string {
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

// Who may say what of a coding task. Source: docs/semantics.md#coding.

export interface Acting {
  /** @throws MusterError FORBIDDEN unless the caller may act as the agent */
  actAs(principal: Principal, agentId: string): Promise<void>;
}

/** Whether the caller is the agent that holds the task, or that closed it. */
export function isHolder(principal: Principal, task: CodingTask): boolean {
  return principal.agentId !== undefined && task.claim?.agentId === principal.agentId;
}

/**
 * Who reports on a claim: the agent that it was given to, where the caller may act for it.
 * @throws MusterError FORBIDDEN
 */
export async function claimantOf(
  acting: Acting,
  principal: Principal,
  task: CodingTask,
  epoch: number,
): Promise<Claimant> {
  const claims = [...task.lapsedClaims, ...(task.claim ? [task.claim] : [])];
  const holder = claims.findLast((claim) => claim.epoch === epoch)?.agentId;
  if (holder === undefined) return { agentId: principal.agentId ?? principal.uid, epoch };
  await acting.actAs(principal, holder);
  return { agentId: holder, epoch };
}

/**
 * Lets the creator, whoever has the same owner, and leaders decide about a task.
 * @throws MusterError FORBIDDEN
 */
export function authoriseDeciding(principal: Principal, task: CodingTask): void {
  if (hasRole(principal.role, 'leader') || principal.ownerUid === task.coding.ownerUid) return;
  throw new MusterError('FORBIDDEN', `You may not change task "${task.id}".`, {
    field: 'taskId',
    reason: 'NOT_YOURS',
    suggestion: 'Its runner may, whoever created it or has the same owner, and leaders.',
  });
}

// What coding tasks are read by and watched with.

export interface CodingPorts extends CoordinationPorts {
  readonly codingTasks: CodingTaskReader;
  readonly taskLogs: TaskLogReader;
  readonly codingWatch: CodingWatch;
}
