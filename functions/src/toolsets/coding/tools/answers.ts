/** How coding's tools and resources show tasks and logs. */

import type { z } from 'zod';
import { terminalText } from '../../../kernel/text.ts';
import { type CodingTask, isHeld, type PastAttempt } from '../../coordination/index.ts';
import type { LogLine } from '../rules/log.ts';
import { codingStatus } from '../rules/task.ts';
import type { logEntryShape, taskShape } from './shapes.ts';

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
