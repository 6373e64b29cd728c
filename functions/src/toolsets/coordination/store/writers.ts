import { FieldPath, FieldValue } from '@google-cloud/firestore';
import { addNode, writeNode } from '../../../graph/store/nodes.ts';
import type { AuditEffect } from '../../../kernel/auditLog.ts';
import type { Fields } from '../../../kernel/documentCodec.ts';
import {
  archivedSessionPath,
  countersPath,
  discoveryPath,
  queueShardsPath,
  sessionPath,
  taskLogPath,
  taskPath,
  workspacePath,
} from '../../../kernel/firestore/paths.ts';
import { type ChangeWriters, type CommitWrites, type EffectsOf, increments } from '../../../kernel/firestore/store.ts';
import type { MessageChanges } from '../rules/mailbox.ts';
import { discoveryToDocument, type Session, type SessionChanges, sessionToDocument } from '../rules/session.ts';
import { type Task, type TaskChanges, taskToDocument, taskWords } from '../rules/task.ts';
import { taskNode } from '../rules/taskChanges.ts';
import { queueShardPaths, type ShardCounts } from './sessions.ts';

/** Number of the first counter shard. Earlier releases write only shards with lower numbers. */
export const FIRST_COUNTER = 64;

export const sessionWriters = (spreads: ShardCounts): ChangeWriters<SessionChanges> => ({
  openSession({ session, replaces }, writes) {
    writes.createOrReplace(workspacePath(session.workspace), { session: session.id }, replaces);
    writes.create(sessionPath(session.workspace, session.id), sessionToDocument(session));
    queueShards(session, 0, writes);
  },
  describeSession({ session: { workspace, id, goal, master_plan }, version }, writes) {
    writes.replace(sessionPath(workspace, id), { goal, master_plan }, version);
  },
  archiveSession({ session, version, at }, writes) {
    const { workspace, id } = session;
    const archived = { ...sessionToDocument(session), archived_at: at, cleared: false };
    writes.set(archivedSessionPath(workspace, id), archived);
    writes.deleteAt(sessionPath(workspace, id), version);
    for (const path of queueShardPaths(session)) writes.delete(path);
  },
  reopenSession({ session, archivedVersion, replaces }, writes) {
    const { workspace, id } = session;
    writes.replace(workspacePath(workspace), { session: id }, replaces);
    writes.create(sessionPath(workspace, id), sessionToDocument(session));
    queueShards(session, 0, writes);
    writes.deleteAt(archivedSessionPath(workspace, id), archivedVersion);
  },
  sessionCleared({ session: { workspace, id } }, writes) {
    writes.update(archivedSessionPath(workspace, id), { cleared: true });
  },
  queueGrew({ session, capability_keys, version }, writes) {
    const { workspace, id, spread } = session;
    if (capability_keys.length === 0 && version === undefined) {
      const shard = session.first_gate + writes.randomness.integer(spread);
      writes.update(`${queueShardsPath(workspace, id)}/${shard}`, { grown_at: FieldValue.serverTimestamp() });
      return;
    }
    const path = sessionPath(workspace, id);
    const fields = {
      queue_version: FieldValue.increment(1),
      ...(capability_keys.length > 0 && { capability_keys: FieldValue.arrayUnion(...capability_keys) }),
    };
    if (version === undefined) writes.update(path, fields);
    else writes.replace(path, fields, version);
  },
  renewCapabilityKeys({ session, capability_keys, gates, version }, writes) {
    const { workspace, id, spread } = session;
    const firstGate = session.first_gate + spread;
    const fields = { capability_keys, first_gate: firstGate };
    writes.replace(sessionPath(workspace, id), { queue_version: FieldValue.increment(1), ...fields }, version);
    for (const gate of gates) writes.deleteAt(`${queueShardsPath(workspace, id)}/${gate.value}`, gate.version);
    queueShards({ ...session, first_gate: firstGate }, 0, writes);
  },
  shardSession({ session, before, version }, writes) {
    const { workspace, id, spread, counter_shards } = session;
    writes.replace(sessionPath(workspace, id), { spread, counter_shards }, version);
    queueShards(session, before, writes);
  },
  count({ workspace, session, by, at, waited }, writes) {
    const shard = `${countersPath(workspace, session)}/${FIRST_COUNTER + writes.randomness.integer(spreads.of(session))}`;
    const { may_be_late = 0, may_be_blocked = 0, ...numbers } = by;
    // Merging an empty map would empty the stored map.
    const counts = Object.keys(numbers).length > 0 && { counts: increments(numbers) };
    const waits = waited !== undefined && { waits: increments({ tasks: 1, milliseconds: waited }) };
    writes.merge(shard, { ...counts, ...waits, ...increments({ may_be_late, may_be_blocked }), last_activity: at });
  },
  createDiscovery({ discovery }, writes) {
    writes.createPermanent(discoveryPath(discovery.id), discoveryToDocument(discovery));
  },
});

function queueShards(session: Session, from: number, writes: CommitWrites): void {
  for (const path of queueShardPaths(session).slice(from)) writes.set(path, { grown_at: FieldValue.serverTimestamp() });
}

export const taskWriters: ChangeWriters<TaskChanges> = {
  createTask({ task }, writes) {
    writes.createPermanent(taskPath(task.id), { ...taskToDocument(task), words: taskWords(task) });
    writeNode(undefined, taskNode(task), writes);
  },
  replaceTask({ before, task, version }, writes) {
    // If the task has no deadline, its document omits the field, so an old deadline must be deleted explicitly.
    // A claim needs no new words. A closed task of an earlier release may have none yet.
    const hasNew = task.completed_at !== undefined || task.description !== before.description;
    const words = hasNew && { words: taskWords(task) };
    const document = { deadline: FieldValue.delete(), ...taskToDocument(task), ...words };
    writes.replaceLatest(taskPath(task.id), document, version);
    // A task joins the graph with its first check. One commit cannot hold two writes at a version to one document.
    if (before.ancestors === undefined && task.ancestors !== undefined) addNode(taskNode(task), writes);
    else writeNode(taskNode(before), taskNode(task), writes);
  },
  removeTask({ task, node, version }, writes) {
    writes.deleteAt(taskPath(task.id), version);
    writeNode(node, { ...node, deleted: true }, writes);
  },
  dependencyDone({ taskId }, writes) {
    writes.updateIfExists(taskPath(taskId), [['blockers', FieldValue.increment(-1)]]);
  },
  dependencyFailed({ taskId, dependencyId }, writes) {
    writes.updateIfExists(taskPath(taskId), [
      ['failed_dependencies', FieldValue.arrayUnion(dependencyId)],
      ['stuck_unsettled', true],
    ]);
  },
  dependencyReopened({ taskId, version }, writes) {
    writes.replace(taskPath(taskId), { blockers: FieldValue.increment(1) }, version);
  },
  dependencyRevived({ taskId, dependencyId }, writes) {
    writes.updateIfExists(taskPath(taskId), [
      ['failed_dependencies', FieldValue.arrayRemove(dependencyId)],
      ['stuck_unsettled', true],
    ]);
  },
  dependencyStuck({ taskId, dependencyId, by }, writes) {
    const mark = new FieldPath('stuck_dependencies', dependencyId);
    writes.updateIfExists(taskPath(taskId), [
      [mark, by ?? FieldValue.delete()],
      ['stuck_unsettled', true],
    ]);
  },
  addDependents({ taskId, dependents, version }, writes) {
    writes.replace(taskPath(taskId), { dependents: FieldValue.arrayUnion(...dependents) }, version);
  },
  removeDependent({ taskId, dependentId }, writes) {
    writes.updateIfExists(taskPath(taskId), [['dependents', FieldValue.arrayRemove(dependentId)]]);
  },
  logFailedCheck({ task: { id: taskId, workspace }, entry }, writes) {
    const { id, details, at, repository, pull_request } = entry;
    const kept = { ...details, repository, pull_request, kind: 'check_failed', at, workspace };
    writes.set(taskLogPath(taskId, id), kept);
  },
  checkFailed({ taskId, check }, writes) {
    const { name, at, repository, pull_request, url } = check;
    const address = url === undefined ? {} : { url };
    writes.update(taskPath(taskId), { failed_check: { name, at, repository, pull_request, ...address } });
  },
  checkPassed({ taskId, version }, writes) {
    writes.replace(taskPath(taskId), { failed_check: null }, version);
  },
};

/** Fields whose changes are not audited: lease renewals, and fields derived from other tasks. */
const UNAUDITED_FIELDS = ['lease_expires_at', 'stuck', 'stuck_by', 'stuck_dependencies', 'stuck_unsettled'];

function auditFieldsOf(task: Task): Fields {
  return Object.fromEntries(Object.entries(taskToDocument(task)).filter(([name]) => !UNAUDITED_FIELDS.includes(name)));
}

/** Removes the progress, which heartbeats update several times per minute, so that it is not audited. */
function codingAuditFields({ coding: now }: Task, before: Task): Task {
  if (now === undefined || before.coding === undefined) return before;
  const { progress: _, ...coding } = before.coding;
  return { ...before, coding: { ...coding, ...(now.progress !== undefined && { progress: now.progress }) } };
}

const ofTask = ({ id, workspace }: Task) => ({ kind: 'task', id, workspace });
const ofSession = ({ id, workspace }: Session) => ({ kind: 'session', id, workspace });

/** Returns the fields of a session that callers set. Fields that change with the session's tasks are omitted. */
function sessionAuditFields(session: Session): Fields {
  const {
    queue_version: _,
    capability_keys: __,
    spread: ___,
    first_gate: ____,
    counter_shards: _____,
    ...audited
  } = sessionToDocument(session);
  return audited;
}

export const coordinationEffects: EffectsOf<TaskChanges & SessionChanges & MessageChanges> = {
  createTask: ({ task }): AuditEffect => ({ ...ofTask(task), after: auditFieldsOf(task) }),
  replaceTask: ({ task, before }): AuditEffect => ({
    ...ofTask(task),
    before: auditFieldsOf(codingAuditFields(task, before)),
    after: auditFieldsOf(task),
  }),
  openSession: ({ session }): AuditEffect => ({ ...ofSession(session), after: sessionAuditFields(session) }),
  describeSession: ({ session, before }): AuditEffect => ({
    ...ofSession(session),
    before: sessionAuditFields(before),
    after: sessionAuditFields(session),
  }),
  archiveSession: ({ session }): AuditEffect => ({ ...ofSession(session), before: sessionAuditFields(session) }),
  reopenSession: ({ session }): AuditEffect => ({ ...ofSession(session), after: sessionAuditFields(session) }),
  createDiscovery: ({ discovery }): AuditEffect => ({
    kind: 'discovery',
    id: discovery.id,
    workspace: discovery.workspace,
    after: discoveryToDocument(discovery),
  }),
  // A change that only marks messages as read is not audited.
  replaceMailbox: ({ mailbox, sent }): AuditEffect | undefined =>
    sent && {
      kind: 'message',
      id: `${mailbox.id}/${sent.id}`,
      workspace: sent.workspace,
      after: { agent_id: mailbox.id, ...(sent.task_id !== undefined && { task_id: sent.task_id }) },
    },
};
