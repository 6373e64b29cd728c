import { FieldValue } from '@google-cloud/firestore';
import type { SessionChanges } from '../../domain/coordination/session.ts';
import { type ChangeWriters, increments } from './commitWrites.ts';
import {
  archivedSessionPath,
  COUNTER_SHARDS,
  countersPath,
  discoveryPath,
  sessionPath,
  workspacePath,
} from './paths.ts';
import { discoveryToDocument, sessionToDocument } from './sessionDocument.ts';

export const sessionWriters: ChangeWriters<SessionChanges> = {
  openSession({ session, replaces }, writes) {
    writes.createOrReplace(workspacePath(session.workspace), { session: session.id }, replaces);
    writes.create(sessionPath(session.workspace, session.id), sessionToDocument(session));
  },
  describeSession({ session: { workspace, id, goal, masterPlan }, version }, writes) {
    writes.replace(sessionPath(workspace, id), { goal, master_plan: masterPlan }, version);
  },
  archiveSession({ session, at }, writes) {
    const { workspace, id } = session;
    const archived = { ...sessionToDocument(session), archived_at: at, cleared: false };
    writes.set(archivedSessionPath(workspace, id), archived);
    writes.delete(sessionPath(workspace, id), { exists: true });
  },
  sessionCleared({ session: { workspace, id } }, writes) {
    writes.update(archivedSessionPath(workspace, id), { cleared: true });
  },
  queueGrew({ workspace, session, capabilityKeys }, writes) {
    writes.update(sessionPath(workspace, session), {
      queue_version: FieldValue.increment(1),
      ...(capabilityKeys.length > 0 && { capability_keys: FieldValue.arrayUnion(...capabilityKeys) }),
    });
  },
  count({ workspace, session, by, at, waited }, writes) {
    const shard = `${countersPath(workspace, session)}/${writes.randomness.integer(COUNTER_SHARDS)}`;
    // Merging an empty map would empty the stored one.
    const counts = Object.keys(by).length > 0 && { counts: increments(by) };
    const waits = waited !== undefined && { waits: increments({ tasks: 1, milliseconds: waited }) };
    writes.set(shard, { ...counts, ...waits, last_activity: at }, { merge: true });
  },
  createDiscovery({ discovery }, writes) {
    writes.createLasting(discoveryPath(discovery.id), discoveryToDocument(discovery));
  },
};
