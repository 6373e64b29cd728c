import { FieldValue, type Firestore, type WriteBatch } from '@google-cloud/firestore';
import type { Randomness } from '../../domain/ports.ts';
import type { Change } from '../../domain/store.ts';
import {
  archivedSessionPath,
  COUNTER_SHARDS,
  countersPath,
  discoveryPath,
  sessionPath,
  workspacePath,
} from './paths.ts';
import type { CommitProof } from './provenCommit.ts';
import { discoveryToDocument, sessionToDocument } from './sessionDocument.ts';
import { atVersion } from './timestamp.ts';

/** Adds a change of a session, its counters or its discoveries to the batch; another change adds nothing. */
export function addCoordinationChange(
  database: Firestore,
  batch: WriteBatch,
  change: Change,
  randomness: Randomness,
  proof: CommitProof,
): void {
  switch (change.kind) {
    case 'openSession': {
      const { workspace, id } = change.session;
      const document = database.doc(workspacePath(workspace));
      if (change.replaces === undefined) batch.create(document, { session: id });
      else batch.update(document, { session: id }, atVersion(change.replaces));
      batch.create(database.doc(sessionPath(workspace, id)), sessionToDocument(change.session));
      break;
    }
    case 'describeSession': {
      const { workspace, id, goal, masterPlan } = change.session;
      const description = { goal, master_plan: masterPlan };
      batch.update(database.doc(sessionPath(workspace, id)), description, atVersion(change.version));
      break;
    }
    case 'archiveSession': {
      const { workspace, id } = change.session;
      const archived = { ...sessionToDocument(change.session), archived_at: change.at, cleared: false };
      batch.set(database.doc(archivedSessionPath(workspace, id)), archived);
      batch.delete(database.doc(sessionPath(workspace, id)), { exists: true });
      break;
    }
    case 'sessionCleared':
      batch.update(database.doc(archivedSessionPath(change.session.workspace, change.session.id)), {
        cleared: true,
      });
      break;
    case 'queueGrew':
      batch.update(database.doc(sessionPath(change.workspace, change.session)), {
        queue_version: FieldValue.increment(1),
        ...(change.capabilityKeys.length > 0 && {
          capability_keys: FieldValue.arrayUnion(...change.capabilityKeys),
        }),
      });
      break;
    case 'count': {
      const by = Object.entries(change.by).map(
        ([counter, delta]) => [counter, FieldValue.increment(delta)] as const,
      );
      const shard = `${countersPath(change.workspace, change.session)}/${randomness.integer(COUNTER_SHARDS)}`;
      // Merging an empty map would empty the stored one.
      const counts = by.length === 0 ? {} : { counts: Object.fromEntries(by) };
      const waits = change.waited === undefined ? {} : { waits: waitOf(change.waited) };
      batch.set(database.doc(shard), { ...counts, ...waits, last_activity: change.at }, { merge: true });
      break;
    }
    case 'createDiscovery': {
      const document = database.doc(discoveryPath(change.discovery.id));
      batch.create(document, proof.lastingIn(document, discoveryToDocument(change.discovery)));
      break;
    }
  }
}

function waitOf(milliseconds: number) {
  return { tasks: FieldValue.increment(1), milliseconds: FieldValue.increment(milliseconds) };
}
