/** How coding's tools and resources show what the domain has. */

import { z } from 'zod';
import type { Operation } from '../../../kernel/commit.ts';
import { jsonObject } from '../../../kernel/json.ts';
import { terminalText } from '../../../kernel/text.ts';
import { type CodingTask, isHeld, type PastAttempt } from '../../coordination/index.ts';
import type { Ended } from '../rules/ending.ts';
import type { LogLine } from '../rules/log.ts';
import type { Appended, Heartbeat } from '../rules/runners.ts';
import { codingStatus } from '../rules/task.ts';
import { type logEntryShape, previousShape, stopShape, success, taskShape } from './shapes.ts';

/** The record of a call's key, whose answer is one of these. */
export function settled(operation: Operation, answer: ReturnType<typeof success<object>>) {
  return operation.recordAnswer(jsonObject.parse(answer));
}

type TaskAnswer = z.output<typeof taskShape>;

/** @param now for how long it has been worked on */
export function codingTaskAnswer(task: CodingTask, now: Date): TaskAnswer {
  const { claim, coding, status } = task;
  return {
    id: task.id,
    tool: coding.tool,
    description: task.description,
    instructions: coding.instructions,
    branch: coding.branch,
    config: coding.config,
    ...(coding.project !== undefined && { project: coding.project }),
    status: codingStatus(status),
    state: status,
    priority: task.priority,
    createdAt: task.createdAt.toISOString(),
    createdBy: task.createdBy,
    ...(status === 'available' && { queueEndsAt: coding.queueEndsAt.toISOString() }),
    ...(task.retryAt && { retryAt: task.retryAt.toISOString() }),
    attempt: task.epoch,
    ...(claim && {
      runner: claim.agentId,
      epoch: claim.epoch,
      claimedAt: claim.claimedAt.toISOString(),
      ...(isHeld(status) && { leaseUntil: claim.leaseExpiresAt.toISOString() }),
      ...(claim.startedAt && { startedAt: claim.startedAt.toISOString() }),
      durationMs: (task.closedAt ?? now).getTime() - claim.claimedAt.getTime(),
    }),
    ...(task.closedAt && { completedAt: task.closedAt.toISOString() }),
    ...(coding.progress !== undefined && { progress: terminalText(coding.progress) }),
    ...(task.result && { summary: terminalText(task.result.output) }),
    ...(task.error !== undefined && { error: terminalText(task.error) }),
    ...(coding.failure && { failure: failureAnswer(coding.failure) }),
  };
}

function failureAnswer({ class: kind, message }: PastAttempt['failure']) {
  return { class: kind, message: terminalText(message) };
}

export function pastAttemptAnswer({ coding }: CodingTask, attempt: PastAttempt) {
  return {
    epoch: attempt.epoch,
    branch: coding.branch,
    runner: attempt.agentId,
    endedAt: attempt.endedAt.toISOString(),
    failure: failureAnswer(attempt.failure),
    commits: attempt.commits.map(({ sha, subject }) => ({ sha, subject: terminalText(subject) })),
  };
}

/** Its data is JSON of the runner's own, and stays as it is. */
export function logLineAnswer({ at, prefix, message, ...line }: LogLine): z.input<typeof logEntryShape> {
  return {
    ...line,
    at: at.toISOString(),
    ...(prefix !== undefined && { prefix: terminalText(prefix) }),
    message: terminalText(message),
  };
}

/** A task as its runner gets it. */
export const claimedShape = taskShape
  .pick({
    id: true,
    tool: true,
    description: true,
    instructions: true,
    branch: true,
    config: true,
    project: true,
    attempt: true,
  })
  .extend({ epoch: z.number(), leaseUntil: z.iso.datetime(), previous: previousShape.optional() });

export function claimAnswer(task: CodingTask | undefined) {
  if (task?.claim === undefined) return success('No task to claim.', { task: null });
  const { id, coding, claim } = task;
  const { tool, instructions, branch, config, project } = coding;
  const previous = coding.attempts.at(-1);
  return success(`Task ${id} is yours.`, {
    task: {
      id,
      tool,
      description: task.description,
      instructions,
      branch,
      config,
      ...(project !== undefined && { project }),
      attempt: task.epoch,
      epoch: claim.epoch,
      leaseUntil: claim.leaseExpiresAt.toISOString(),
      ...(previous && { previous: pastAttemptAnswer(task, previous) }),
    },
  });
}

export const appendShape = z.object({
  accepted: z.number().describe('How many of the entries were new.'),
  cursor: z.string().describe('Where get_task_logs goes on after them.'),
  leaseUntil: z.iso.datetime().optional(),
  stop: stopShape,
});

export function appendAnswer({ accepted, next, leaseUntil, stop }: Appended) {
  return success(stop?.message ?? `${accepted} entries appended.`, {
    accepted,
    cursor: String(next),
    ...(leaseUntil && { leaseUntil: leaseUntil.toISOString() }),
    ...(stop && { stop }),
  });
}

export const heartbeatShape = z.object({
  leaseUntil: z.iso.datetime().optional().describe('Absent where you are to stop.'),
  stop: stopShape,
});

export function heartbeatAnswer({ leaseUntil, stop }: Heartbeat) {
  return success(stop?.message ?? 'Lease renewed.', {
    ...(leaseUntil && { leaseUntil: leaseUntil.toISOString() }),
    ...(stop && { stop }),
  });
}

export const endShape = z.object({
  task: taskShape,
  outcome: z
    .enum(['ended', 'retried', 'repeated', 'kept', 'late'])
    .describe(
      'ended: the task is closed. retried: it is available for another attempt. repeated: you had reported this. kept: somebody else had ended it, and your result was added. late: another runner has it now; your report was kept as its late result.',
    ),
});

const MESSAGES: Readonly<Record<Ended['outcome'], string>> = {
  ended: 'Task ended.',
  retried: 'Task failed; it is available for another attempt.',
  repeated: 'Task had ended with this outcome before.',
  kept: 'Somebody else had ended the task; your result was kept.',
  late: 'Another runner has the task now; your report was kept as its late result.',
};

export function endAnswer({ task, now, outcome }: Ended) {
  return success(MESSAGES[outcome], { task: codingTaskAnswer(task, now), outcome });
}
