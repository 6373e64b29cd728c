import { FieldPath, FieldValue } from '@google-cloud/firestore';
import { writeNode } from '../../../graph/store/nodes.ts';
import type { Fields } from '../../../kernel/documentCodec.ts';
import {
  archivedSessionPath,
  countersPath,
  discoveryPath,
  gatesPath,
  sessionPath,
  taskLogPath,
  taskPath,
  workspacePath,
} from '../../../kernel/firestore/paths.ts';
import type { EffectsOf } from '../../../kernel/firestore/store.ts';
import { type ChangeWriters, type CommitWrites, increments } from '../../../kernel/firestore/store.ts';
import type { Effect } from '../../../kernel/trail.ts';
import type { MessageChanges } from '../rules/mailbox.ts';
import {
  discoveryToDocument,
  type Session,
  type SessionChanges,
  type SessionGates,
  sessionToDocument,
} from '../rules/session.ts';
import { type Task, type TaskChanges, taskToDocument } from '../rules/task.ts';
import { taskNode } from '../rules/taskChanges.ts';
import type { SessionSpreads } from './sessions.ts';

export const sessionWriters = (spreads: SessionSpreads): ChangeWriters<SessionChanges> => ({
  openSession({ session, replaces }, writes) {
    writes.createOrReplace(workspacePath(session.workspace), { session: session.id }, replaces);
    writes.create(sessionPath(session.workspace, session.id), sessionToDocument(session));
    openGates(session, 0, writes);
  },
  describeSession({ session: { workspace, id, goal, master_plan }, version }, writes) {
    writes.replace(sessionPath(workspace, id), { goal, master_plan }, version);
  },
  archiveSession({ session, version, at }, writes) {
    const { workspace, id } = session;
    const archived = { ...sessionToDocument(session), archived_at: at, cleared: false };
    writes.set(archivedSessionPath(workspace, id), archived);
    writes.deleteAt(sessionPath(workspace, id), version);
    for (let gate = 0; gate < session.spread; gate++) writes.delete(gatePath(session, gate));
  },
  reopenSession({ session, archivedVersion, replaces }, writes) {
    const { workspace, id } = session;
    writes.replace(workspacePath(workspace), { session: id }, replaces);
    writes.create(sessionPath(workspace, id), sessionToDocument(session));
    openGates(session, 0, writes);
    writes.deleteAt(archivedSessionPath(workspace, id), archivedVersion);
  },
  sessionCleared({ session: { workspace, id } }, writes) {
    writes.update(archivedSessionPath(workspace, id), { cleared: true });
  },
  queueGrew({ session, capability_keys, version }, writes) {
    const { workspace, id, spread } = session;
    if (capability_keys.length === 0 && version === undefined) {
      const gate = gatePath(session, writes.randomness.integer(spread));
      writes.update(gate, { grown_at: FieldValue.serverTimestamp() });
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
    writes.replace(
      sessionPath(workspace, id),
      { queue_version: FieldValue.increment(1), ...fields },
      version,
    );
    for (const gate of gates) writes.deleteAt(`${gatesPath(workspace, id)}/${gate.value}`, gate.version);
    openGates({ ...session, first_gate: firstGate }, 0, writes);
  },
  spreadSession({ session, before, version }, writes) {
    writes.replace(sessionPath(session.workspace, session.id), { spread: session.spread }, version);
    openGates(session, before, writes);
  },
  count({ workspace, session, by, at, waited }, writes) {
    const shard = `${countersPath(workspace, session)}/${writes.randomness.integer(spreads.of(session))}`;
    // Merging an empty map would empty the stored one.
    const counts = Object.keys(by).length > 0 && { counts: increments(by) };
    const waits = waited !== undefined && { waits: increments({ tasks: 1, milliseconds: waited }) };
    writes.merge(shard, { ...counts, ...waits, last_activity: at });
  },
  createDiscovery({ discovery }, writes) {
    writes.createLasting(discoveryPath(discovery.id), discoveryToDocument(discovery));
  },
});

function openGates(session: Session, from: number, writes: CommitWrites): void {
  for (let gate = from; gate < session.spread; gate++)
    writes.set(gatePath(session, gate), { grown_at: FieldValue.serverTimestamp() });
}

function gatePath({ workspace, id, first_gate }: SessionGates, gate: number): string {
  return `${gatesPath(workspace, id)}/${first_gate + gate}`;
}

export const taskWriters: ChangeWriters<TaskChanges> = {
  createTask({ task }, writes) {
    writes.createLasting(taskPath(task.id), taskToDocument(task));
    writeNode(undefined, taskNode(task), writes);
  },
  replaceTask({ before, task, version }, writes) {
    // Fields that the document omits would stay.
    const document = { deadline: FieldValue.delete(), ...taskToDocument(task) };
    writes.replaceLatest(taskPath(task.id), document, version);
    writeNode(taskNode(before), taskNode(task), writes);
  },
  removeTask({ task, node, version }, writes) {
    writes.deleteAt(taskPath(task.id), version);
    writeNode(node, { ...node, deleted: true }, writes);
  },
  dependencyDone({ taskId }, writes) {
    writes.updateIfThere(taskPath(taskId), [['blockers', FieldValue.increment(-1)]]);
  },
  dependencyFailed({ taskId, dependencyId }, writes) {
    writes.updateIfThere(taskPath(taskId), [
      ['failed_dependencies', FieldValue.arrayUnion(dependencyId)],
      ['stuck_unsettled', true],
    ]);
  },
  dependencyReopened({ taskId, version }, writes) {
    writes.replace(taskPath(taskId), { blockers: FieldValue.increment(1) }, version);
  },
  dependencyRevived({ taskId, dependencyId }, writes) {
    writes.updateIfThere(taskPath(taskId), [
      ['failed_dependencies', FieldValue.arrayRemove(dependencyId)],
      ['stuck_unsettled', true],
    ]);
  },
  dependencyStuck({ taskId, dependencyId, by }, writes) {
    const mark = new FieldPath('stuck_dependencies', dependencyId);
    writes.updateIfThere(taskPath(taskId), [
      [mark, by ?? FieldValue.delete()],
      ['stuck_unsettled', true],
    ]);
  },
  addDependents({ taskId, dependents, version }, writes) {
    writes.replace(taskPath(taskId), { dependents: FieldValue.arrayUnion(...dependents) }, version);
  },
  removeDependent({ taskId, dependentId }, writes) {
    writes.updateIfThere(taskPath(taskId), [['dependents', FieldValue.arrayRemove(dependentId)]]);
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

// Audit entries of tasks, sessions, findings and messages.

/** Fields without audit entries: renewed leases, and fields derived from other tasks. */
const FOLLOWING = ['lease_expires_at', 'stuck', 'stuck_by', 'stuck_dependencies', 'stuck_unsettled'];

function toldOf(task: Task): Fields {
  const told = Object.entries(taskToDocument(task)).filter(([field]) => !FOLLOWING.includes(field));
  return Object.fromEntries(told);
}

/** Hides a change of the progress, which heartbeats report several times per minute, from the audit log. */
function asFarAs({ coding: now }: Task, before: Task): Task {
  if (now === undefined || before.coding === undefined) return before;
  const { progress: _, ...coding } = before.coding;
  return { ...before, coding: { ...coding, ...(now.progress !== undefined && { progress: now.progress }) } };
}

const ofTask = ({ id, workspace }: Task) => ({ kind: 'task', id, workspace });

const ofSession = ({ id, workspace }: Session) => ({ kind: 'session', id, workspace });

/** Returns the fields of a session that callers set, without those that change with its tasks. */
function saidOf(session: Session): Fields {
  const {
    queue_version: _,
    capability_keys: __,
    spread: ___,
    first_gate: ____,
    ...said
  } = sessionToDocument(session);
  return said;
}

export const coordinationEffects: EffectsOf<TaskChanges & SessionChanges & MessageChanges> = {
  createTask: ({ task }): Effect => ({ ...ofTask(task), after: toldOf(task) }),
  replaceTask: ({ task, before }): Effect => ({
    ...ofTask(task),
    before: toldOf(asFarAs(task, before)),
    after: toldOf(task),
  }),
  openSession: ({ session }): Effect => ({ ...ofSession(session), after: saidOf(session) }),
  describeSession: ({ session, before }): Effect => ({
    ...ofSession(session),
    before: saidOf(before),
    after: saidOf(session),
  }),
  archiveSession: ({ session }): Effect => ({ ...ofSession(session), before: saidOf(session) }),
  reopenSession: ({ session }): Effect => ({ ...ofSession(session), after: saidOf(session) }),
  createDiscovery: ({ discovery }): Effect => ({
    kind: 'discovery',
    id: discovery.id,
    workspace: discovery.workspace,
    after: discoveryToDocument(discovery),
  }),
  // Reading a message is not audited.
  replaceMailbox: ({ mailbox, sent }): Effect | undefined =>
    sent && {
      kind: 'message',
      id: `${mailbox.id}/${sent.id}`,
      workspace: sent.workspace,
      after: { agent_id: mailbox.id, ...(sent.task_id !== undefined && { task_id: sent.task_id }) },
    },
};
