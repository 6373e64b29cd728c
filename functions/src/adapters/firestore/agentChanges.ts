import { FieldPath, FieldValue, type Firestore, type WriteBatch } from '@google-cloud/firestore';
import type { Randomness } from '../../domain/ports.ts';
import type { Change } from '../../domain/store.ts';
import { agentToDocument, credentialToDocument } from './agentDocument.ts';
import { agentPath, credentialPath, MEMBER_SHARDS, membersPath } from './paths.ts';
import { atVersion } from './timestamp.ts';

/** Adds a change of an agent or its credential to the batch; another change adds nothing. */
export function addAgentChange(
  database: Firestore,
  batch: WriteBatch,
  change: Change,
  randomness: Randomness,
): void {
  switch (change.kind) {
    case 'createAgent':
      batch.create(database.doc(agentPath(change.agent.id)), agentToDocument(change.agent));
      break;
    case 'replaceAgent':
      batch.update(
        database.doc(agentPath(change.agent.id)),
        { ...agentToDocument(change.agent) },
        atVersion(change.version),
      );
      break;
    case 'holdTask': {
      const { id, session, epoch, claim } = change.task;
      batch.update(
        database.doc(agentPath(change.agentId)),
        new FieldPath('held', id),
        { session, claim_epoch: epoch },
        'status',
        'active',
        'last_seen',
        claim?.claimedAt ?? FieldValue.serverTimestamp(),
        atVersion(change.version),
      );
      break;
    }
    case 'dropTask': {
      const counted = change.closed === 'done' ? 'tasks_completed' : 'tasks_failed';
      const held = new FieldPath('held', change.taskId);
      const document = database.doc(agentPath(change.agentId));
      if (change.closed === undefined) batch.update(document, held, FieldValue.delete());
      else batch.update(document, held, FieldValue.delete(), counted, FieldValue.increment(1));
      break;
    }
    case 'countMembers': {
      const { total, leaders, active } = change.by;
      const shard = `${membersPath(change.workspace)}/${randomness.integer(MEMBER_SHARDS)}`;
      const by = {
        total: FieldValue.increment(total),
        leaders: FieldValue.increment(leaders),
        active: FieldValue.increment(active),
      };
      batch.set(database.doc(shard), by, { merge: true });
      break;
    }
    case 'issueCredential':
      batch.create(
        database.doc(credentialPath(change.credential.apiKey)),
        credentialToDocument(change.credential),
      );
      break;
    case 'withdrawCredential':
      // Two registrations may write the same profile, which Firestore takes for no change: this tells them apart.
      batch.delete(database.doc(credentialPath(change.apiKey)), { exists: true });
      break;
  }
}
