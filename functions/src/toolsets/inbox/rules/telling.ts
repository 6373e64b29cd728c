/** How a person hears of a question: an event of the outbox, which the notifier takes as it takes reminders. */
import { QUESTION, type TaskEvent } from '../../todo/index.ts';
import type { Request } from './request.ts';

/** Its id is made of the request's: whatever is delivered twice tells once. */
export function questionEvent(request: Request): TaskEvent {
  const { id, workspace, kind, question, options, askedBy, askedOf, taskId, createdAt, expiresAt } = request;
  return {
    id: `question-${id}`,
    type: QUESTION,
    taskId: id,
    userId: askedOf,
    timestamp: createdAt,
    before: null,
    after: {
      request_id: id,
      workspace,
      kind,
      question,
      options: [...options],
      asked_by: askedBy,
      ...(taskId !== undefined && { task_id: taskId }),
      expires_at: expiresAt.toISOString(),
    },
    changes: [],
  };
}
