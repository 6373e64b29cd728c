/** What the trail tells of tasks, sessions, discoveries and messages. */
import type { EffectsOf } from '../../../kernel/firestore/trail.ts';
import type { Effect, Fields } from '../../../kernel/trail.ts';
import type { MessageChanges } from '../rules/mailbox.ts';
import {
  discoveryToDocument,
  type Session,
  type SessionChanges,
  sessionToDocument,
} from '../rules/session.ts';
import { type Task, type TaskChanges, taskToDocument } from '../rules/task.ts';

/** A task whose lease alone goes on is not changed by anybody. Whether it can start follows from others. */
const FOLLOWING = ['lease_expires_at', 'stuck', 'stuck_by', 'stuck_dependencies', 'stuck_unsettled'];

function toldOf(task: Task): Fields {
  const told = Object.entries(taskToDocument(task)).filter(([field]) => !FOLLOWING.includes(field));
  return Object.fromEntries(told);
}

/** How far its holder says that it is comes with signs of life, several a minute: it is not told by itself. */
function asFarAs({ coding: now }: Task, before: Task): Task {
  if (now === undefined || before.coding === undefined) return before;
  const { progress: _, ...coding } = before.coding;
  return { ...before, coding: { ...coding, ...(now.progress !== undefined && { progress: now.progress }) } };
}

const ofTask = ({ id, workspace }: Task) => ({ kind: 'task', id, workspace });

const ofSession = ({ id, workspace }: Session) => ({ kind: 'session', id, workspace });

/** What grows with each task is not what somebody said of the session. */
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
  // That an agent has read what was written to it changes nothing for anybody.
  replaceMailbox: ({ mailbox, sent }): Effect | undefined =>
    sent && {
      kind: 'message',
      id: `${mailbox.id}/${sent.id}`,
      workspace: sent.workspace,
      after: {
        agent_id: mailbox.id,
        ...(sent.taskId !== undefined && { task_id: sent.taskId }),
      },
    },
};
