/**
 * Records that an event arrived. The events themselves are the audit trail, and nobody can change them through
 * Muster; the digest shows where somebody has done so past it.
 */
import { canonicalJson } from '../json.ts';
import type { Clock, Hashing } from '../ports.ts';
import { messageOf, type TaskEvent } from './event.ts';
import type { AuditTrail } from './ports.ts';

export interface AuditDependencies {
  readonly auditTrail: AuditTrail;
  readonly hashing: Hashing;
  readonly clock: Clock;
}

export async function audit(
  event: TaskEvent,
  { auditTrail, hashing, clock }: AuditDependencies,
): Promise<void> {
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
