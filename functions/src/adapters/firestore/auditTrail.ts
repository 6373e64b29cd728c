import type { Firestore } from '@google-cloud/firestore';
import type { AuditEntry, AuditTrail } from '../../domain/events/ports.ts';
import { createOnce } from './createOnce.ts';
import { auditPath } from './paths.ts';

export class FirestoreAuditTrail implements AuditTrail {
  private readonly database: Firestore;

  constructor(database: Firestore) {
    this.database = database;
  }

  async record(entry: AuditEntry): Promise<void> {
    await createOnce(this.database.doc(auditPath(entry.eventId)), {
      event_id: entry.eventId,
      event_type: entry.type,
      task_id: entry.taskId,
      user_id: entry.userId,
      timestamp: entry.timestamp,
      digest: entry.digest,
      recorded_at: entry.recordedAt,
    });
  }
}
