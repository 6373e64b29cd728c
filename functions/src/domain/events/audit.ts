/**
 * Records that an event arrived. The events themselves are the audit trail, and nobody can change them through
 * Muster; the digest shows where somebody has done so past it.
 */
import { canonicalJson } from '../json.ts';
import type { TodoPorts } from '../todos/ports.ts';
import { messageOf, type TaskEvent } from './event.ts';

export async function audit(event: TaskEvent, { auditTrail, hashing, clock }: TodoPorts): Promise<void> {
  await auditTrail.record({
    eventId: event.id,
    type: event.type,
    taskId: event.taskId,
    userId: event.userId,
    timestamp: event.timestamp,
    digest: hashing.sha256(canonicalJson(messageOf(event))),
    recordedAt: clock.now(),
  });
}
