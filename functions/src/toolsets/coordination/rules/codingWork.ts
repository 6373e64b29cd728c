/** What makes a task a coding task: part of `tasks/{taskId}`. Source: spec/coding.md; docs/semantics.md#coding. */
import { MusterError } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';

export interface Commit {
  readonly sha: string;
  readonly subject: string;
}

/** An attempt that is over, but for the one that closed the task. */
export interface PastAttempt {
  readonly epoch: number;
  readonly agentId: string;
  readonly endedAt: Date;
  readonly failure: Failure;
  /** The latest of those that it reported. */
  readonly commits: readonly Commit[];
}

/** Where the result of an attempt is kept: in documents of its own, for a task holds no megabyte beside itself. */
export interface StoredResult {
  readonly epoch: number;
  /** Bytes of JSON. */
  readonly bytes: number;
  readonly parts: number;
}

export interface CodingWork {
  readonly tool: CodingTool;
  readonly instructions: string;
  readonly branch: string;
  readonly config: JsonObject;
  /** The repository, as `owner/name` or a label of the runner's, once somebody has said which. */
  readonly project?: string;
  /** Who may end it beside leaders: the creator's owner. */
  readonly ownerUid: string;
  /** How long it may wait for a runner, in seconds. */
  readonly queueSeconds: number;
  /** While it waits: when it has waited too long. */
  readonly queueEndsAt: Date;
  /** What its holder last said of it. */
  readonly progress?: string;
  /** Why its last attempt failed. */
  readonly failure?: Failure;
  readonly attempts: readonly PastAttempt[];
  readonly result?: StoredResult;
}

// The coding tools that a task may ask for, and the programs that runners have for them. Source:
// spec/coding.md.

/** By the specification's name: the program, which is also the capability that a runner declares. */
const PROGRAMS = { CLAUDECODE: 'claude', GEMINI: 'gemini' } as const;

export type CodingTool = keyof typeof PROGRAMS;

export const CODING_TOOLS: readonly CodingTool[] = ['CLAUDECODE', 'GEMINI'];

export function programOf(tool: CodingTool): string {
  return PROGRAMS[tool];
}

/** @throws MusterError VALIDATION_ERROR that lists the known ones */
export function codingTool(name: string, field: string): CodingTool {
  const known = CODING_TOOLS.find((tool) => tool === name);
  if (known !== undefined) return known;
  throw new MusterError('VALIDATION_ERROR', 'There is no coding tool of this name.', {
    field,
    value: name,
    reason: 'UNKNOWN_TOOL',
    suggestion: `Known tools: ${CODING_TOOLS.join(', ')}.`,
  });
}

/** Why a coding task failed, and whether another attempt may help. */

export const FAILURE_CLASSES = [
  'queue_expired',
  'runner_lost',
  'cli_missing',
  'authentication',
  'rate_limit',
  'no_output',
  'crashed',
  'cancelled',
  'acceptance_failed',
] as const;

export type FailureClass = (typeof FAILURE_CLASSES)[number];

export interface Failure {
  readonly class: FailureClass;
  readonly message: string;
}

/** How often a task is worked on at most. */
export const MAX_ATTEMPTS = 3;

const RETRYABLE: readonly FailureClass[] = ['runner_lost', 'rate_limit', 'no_output', 'crashed'];

export function isRetryable(failure: FailureClass): boolean {
  return RETRYABLE.includes(failure);
}

/** The wait before the next attempt, in seconds. Only a rate limit passes with time. */
export function backoffSeconds(failure: FailureClass, attempt: number): number {
  return failure === 'rate_limit' ? 30 * 2 ** (attempt - 1) : 0;
}
