/**
 * Every collection of both databases: what it holds, who may read and write it directly. The rules tests are
 * generated from this table, and docs/data-model.md is printed from it.
 */

import type { Role } from '../../functions/src/access/rules/principal.ts';
import {
  agentMeasurePath,
  agentPath,
  answerPath,
  archivedSessionPath,
  auditPath,
  commitPath,
  countersPath,
  credentialPath,
  discoveryPath,
  eventPath,
  idempotencyPath,
  mailPath,
  membersPath,
  preferencesPath,
  pullRequestPath,
  recurringTaskPath,
  registryPath,
  reminderPath,
  runCallsPath,
  runOrderPath,
  runPath,
  runStepsPath,
  sessionPath,
  skillPath,
  subscriptionPath,
  sweepPath,
  taskPath,
  titleGuardPath,
  todoPath,
  workflowPath,
  workspacePath,
  writersCommitPath,
} from '../../functions/src/kernel/firestore/paths.ts';
import {
  busPath,
  checkPath,
  DELIVERIES,
  DEVICES,
  LIMITS,
  METRICS_AGENTS,
  METRICS_MINUTES,
  NOTIFICATIONS,
  presencePath,
  queuedTaskPath,
  realtimeCommitPath,
  TASK_UPDATES,
  UNREADABLE,
} from '../../functions/src/kernel/realtime/database.ts';

/**
 * The weakest role that may do something directly, under the rules; or whose it is, alone or with their agents;
 * `nobody` leaves the server.
 */
export type Least = Role | 'owner' | 'owner and agents' | 'nobody';

/** Stands for every path that is not listed. */
export const ELSEWHERE = 'elsewhere/{id}';

export interface Collection {
  readonly database: 'firestore' | 'realtime';
  /** The path of a document or child, with its variables in braces. */
  readonly path: string;
  readonly holds: string;
  readonly reads: Least;
  readonly writes: Least;
  /** The field that says whose a document is. Where there is none, `{uid}` in the path does. */
  readonly ownerField?: string;
  /** What may be written, and what it may be changed to, where not anything may. */
  readonly samples?: { readonly value: object; readonly change: object };
  /** What of the server writes it. */
  readonly keeper?: string;
  /** The children by which the Realtime Database's queries order. */
  readonly indexOn?: readonly string[];
  /** Paths that must be treated likewise, where one does not show it all. */
  readonly also?: readonly string[];
}

const firestoreCollections: readonly Omit<Collection, 'database'>[] = [
  {
    path: agentPath('{agentId}'),
    holds:
      'an agent: its profile, capabilities, role, workspace, the tasks it holds and how many it has closed',
    reads: 'viewer',
    writes: 'nobody',
    keeper: 'registration, claiming and closing of tasks, the sweep',
  },
  {
    path: credentialPath('{apiKey}'),
    holds: "an agent's credential: the SHA-256 of its secret, its expiry, its toolsets",
    reads: 'nobody',
    writes: 'nobody',
    keeper: 'registration, `npm run agents`',
  },
  {
    path: registryPath('{shard}'),
    holds: 'how many agents there are and how many are active; the sum over all shards counts',
    reads: 'viewer',
    writes: 'nobody',
    keeper: 'registration, claims, the sweep',
  },
  {
    path: skillPath('{skillId}'),
    holds: 'a capability that agents have declared, and how many have it',
    reads: 'viewer',
    writes: 'nobody',
    keeper: 'registration, `register_agent`',
  },
  {
    path: workspacePath('{workspace}'),
    holds: 'the id of the open session of a workspace',
    reads: 'viewer',
    writes: 'nobody',
    keeper: '`init_coordination`',
  },
  {
    path: sessionPath('{workspace}', '{session}'),
    holds: 'the open session: goal, master plan, and the sets of capabilities that its tasks require',
    reads: 'viewer',
    writes: 'nobody',
    keeper: 'coordination',
  },
  {
    path: `${membersPath('{workspace}')}/{shard}`,
    holds:
      'how many agents have a part in a workspace, lead it and are active; the sum over all shards counts',
    reads: 'viewer',
    writes: 'nobody',
    keeper: 'registration, `claim_task`, the sweep',
  },
  {
    path: `${countersPath('{workspace}', '{session}')}/{shard}`,
    holds:
      'how many tasks of a session are in each state, and its discoveries; the sum over all shards counts',
    reads: 'viewer',
    writes: 'nobody',
    keeper: 'coordination, in the commit that changes what is counted',
  },
  {
    path: archivedSessionPath('{workspace}', '{session}'),
    holds: 'a session that another goal replaced',
    reads: 'viewer',
    writes: 'nobody',
    keeper: '`init_coordination`, the sweep',
  },
  {
    path: taskPath('{taskId}'),
    holds:
      'a task of the one work queue: its dependencies, claim, lease, epoch and result; of a coding task also its branch, instructions and attempts',
    reads: 'viewer',
    writes: 'nobody',
    keeper: 'coordination, the sweep',
  },
  {
    path: `${taskPath('{taskId}')}/logs/{n}`,
    holds:
      "what a task reported while it ran: chunks of a coding task's log, up to 500 lines each, and checks that failed on its pull request",
    reads: 'viewer',
    writes: 'nobody',
    keeper: '`append_logs`, `update_task`; the GitHub webhook',
  },
  {
    path: `${taskPath('{taskId}')}/results/{result}`,
    holds:
      'what a coding task has brought, as JSON: `<claim epoch>-<part>`, for it may be larger than a document',
    reads: 'viewer',
    writes: 'nobody',
    keeper: '`end_task`',
  },
  {
    path: pullRequestPath('{pullRequest}'),
    holds: 'the task that a pull request completes when it is merged',
    reads: 'viewer',
    writes: 'nobody',
    keeper: '`github.createPR`',
  },
  {
    path: discoveryPath('{discoveryId}'),
    holds: 'something that an agent found out and shares with its session',
    reads: 'viewer',
    writes: 'nobody',
    keeper: '`add_discovery`',
  },
  {
    path: eventPath('{eventId}'),
    holds: 'what happened to a to-do, with the to-do before and after: the audit trail and the outbox',
    reads: 'owner and agents',
    writes: 'nobody',
    ownerField: 'user_id',
    keeper: 'the commit of every tool that changes a to-do, the reminders',
  },
  {
    path: auditPath('{eventId}'),
    holds: 'that an event arrived, and a digest of what it said then',
    reads: 'admin',
    writes: 'nobody',
    keeper: 'the consumer of `task-events`',
  },
  {
    path: reminderPath('{reminderId}'),
    holds: "when a to-do's owner is reminded of it, and whether that was done",
    reads: 'owner and agents',
    writes: 'nobody',
    ownerField: 'owner_uid',
    keeper: 'tools of to-dos and reminders, the schedule that sends them',
  },
  {
    path: preferencesPath('{uid}'),
    holds: 'how long before the due date, and by which ways, a person is reminded',
    reads: 'owner and agents',
    writes: 'owner',
    samples: { value: { reminder_lead_minutes: 30, push: true }, change: { email: true } },
  },
  {
    path: mailPath('{mailId}'),
    holds: "mails for Firebase's extension Trigger Email to send",
    reads: 'nobody',
    writes: 'nobody',
    keeper: 'the consumer of `reminders`',
  },
  {
    path: idempotencyPath('{key}'),
    holds: 'the answer to a call with an `idempotency_key`, for 24 hours',
    reads: 'nobody',
    writes: 'nobody',
    keeper: 'the commit of every writing tool',
  },
  {
    path: commitPath('{id}'),
    holds:
      'that a commit was carried out which writes nothing else that can hold its id; deleted after an hour',
    reads: 'nobody',
    writes: 'nobody',
    keeper: 'every commit that writes nothing else which can hold its id',
  },
  {
    path: writersCommitPath('{uid}', '{id}'),
    holds:
      'that a `firebase.write` was carried out: with an `idempotency_key`, in a transaction or with an increment',
    reads: 'owner',
    writes: 'owner',
    samples: {
      value: { expires_at: new Date('2026-11-22T12:00:00Z'), arguments_hash: 'hash' },
      change: { expires_at: new Date('2026-11-22T13:00:00Z') },
    },
  },
  {
    path: subscriptionPath('{id}'),
    holds:
      'who is subscribed to what, and which log has its events; forgotten 24 hours after its last reader',
    reads: 'nobody',
    writes: 'nobody',
    keeper: '`firebase.subscribe`, `firebase.unsubscribe`, its readers, the sweep',
  },
  {
    path: todoPath('{todoId}'),
    holds:
      "a person's to-do; beside it what queries go by, and the to-do as its last event told of it. Its owner may edit and complete it directly, within bounds",
    reads: 'owner and agents',
    writes: 'nobody',
    ownerField: 'owner_uid',
    keeper: 'the to-do tools; the trigger that repairs after direct edits',
  },
  {
    path: workflowPath('{workflowId}'),
    holds: 'a workflow that somebody has saved: its definition and its version',
    reads: 'owner and agents',
    ownerField: 'owner_uid',
    writes: 'nobody',
    keeper: '`save_workflow`, `delete_workflow`',
  },
  {
    path: agentMeasurePath('{shard}'),
    holds:
      'how often a hosted agent was asked and answered, and how long that took; the sum over all shards counts',
    reads: 'viewer',
    writes: 'nobody',
    keeper: 'orchestration, in the commit that books what an agent was asked',
  },
  {
    path: recurringTaskPath('{recurringTaskId}'),
    holds: 'what a recurring to-do repeats, its rule, and the last occurrence that was made',
    reads: 'owner and agents',
    writes: 'nobody',
    ownerField: 'owner_uid',
    keeper: '`create_recurring_task` and its like; what ends an occurrence',
  },
  {
    path: titleGuardPath('{guard}'),
    holds: 'which open to-do has a title and due date for itself, under a digest of owner, title and date',
    reads: 'nobody',
    writes: 'nobody',
    keeper: 'the commit of every tool that changes a to-do',
  },
  {
    path: runPath('{runId}'),
    holds: 'an orchestration: its state, who executes it until when, what it has spent',
    reads: 'owner and agents',
    writes: 'nobody',
    ownerField: 'owner_uid',
    keeper: '`orchestrate` and its like, `executeRun`, `cancel_run`',
  },
  {
    path: runOrderPath('{runId}').replace(/1$/, '{n}'),
    holds: 'what a run is to do: its workflow, input, context and budget',
    reads: 'nobody',
    writes: 'nobody',
    keeper: '`orchestrate` and its like',
  },
  {
    path: `${runStepsPath('{runId}')}/{stepId}`,
    holds: 'how a step of a run ended: its output, attempts and cost',
    reads: 'nobody',
    writes: 'nobody',
    keeper: '`executeRun`',
  },
  {
    path: `${runCallsPath('{runId}')}/{callId}`,
    holds: 'the journal of a run: each request to a model, noted before it is made and after it has ended',
    reads: 'nobody',
    writes: 'nobody',
    keeper: '`executeRun`',
  },
  {
    path: answerPath('{key}'),
    holds: 'which run answers a question, under a digest of it; forgotten by itself',
    reads: 'nobody',
    writes: 'nobody',
    keeper: '`orchestrate` and its like',
  },
  {
    path: sweepPath('{name}'),
    holds: 'what one sweep tells the next: which parts are behind, and whether presence was away',
    reads: 'nobody',
    writes: 'nobody',
    keeper: 'the sweep',
  },
  {
    path: 'messages/{id}',
    also: ['messages/conversations/conv-123/{id}'],
    holds: 'messages between agents and people, free-form, at any depth',
    reads: 'viewer',
    writes: 'worker',
  },
  {
    path: 'shared/{id}',
    also: ['shared/team/notes/{id}'],
    holds: 'whatever agents and people share, free-form, at any depth',
    reads: 'viewer',
    writes: 'worker',
  },
  {
    path: ELSEWHERE,
    also: ['elsewhere/team/messages/{id}', 'agents/agent-1/shared/{id}', 'workspaces/alpha/credentials/{id}'],
    holds: 'nothing',
    reads: 'nobody',
    writes: 'nobody',
  },
];

const realtimeCollections: readonly Omit<Collection, 'database'>[] = [
  {
    path: presencePath('{agentId}'),
    holds: 'when an agent was last seen, in milliseconds of the epoch',
    reads: 'viewer',
    writes: 'nobody',
    keeper: 'every call of the agent, the sweep',
    indexOn: ['last_seen'],
  },
  {
    path: checkPath('{name}'),
    holds: 'when the sweep last tried whether something, such as presence, can be written',
    reads: 'nobody',
    writes: 'nobody',
    keeper: 'the sweep',
  },
  {
    path: queuedTaskPath('{taskId}'),
    holds: 'a mirror of each task that can be claimed now',
    reads: 'viewer',
    writes: 'nobody',
    keeper: 'the trigger on tasks',
  },
  {
    path: 'messages/{id}',
    also: ['messages/conversations/conv-123/{id}'],
    holds: 'messages between agents and people, free-form, at any depth',
    reads: 'viewer',
    writes: 'worker',
  },
  {
    path: 'shared/{id}',
    also: ['shared/team/notes/{id}'],
    holds: 'whatever agents and people share, free-form, at any depth',
    reads: 'viewer',
    writes: 'worker',
  },
  {
    path: `${TASK_UPDATES}/{uid}/{eventId}`,
    holds: "the latest 50 events of a person's to-dos, for clients that watch",
    reads: 'owner and agents',
    writes: 'nobody',
    keeper: 'the consumer of `task-updates`',
    indexOn: ['at'],
  },
  {
    path: `${NOTIFICATIONS}/{uid}/{id}`,
    holds: 'the latest 100 things that a person was told: reminders that were due',
    reads: 'owner and agents',
    writes: 'nobody',
    keeper: 'the consumer of `reminders`',
    indexOn: ['at'],
  },
  {
    path: `${DEVICES}/{uid}/{device}`,
    holds:
      "where a person's devices are reached: their FCM registration tokens, the latest 20 of which are used",
    reads: 'owner and agents',
    writes: 'owner',
    samples: {
      value: { token: 'token-1', registered_at: 1, name: 'Phone' },
      change: { token: 'token-2', registered_at: 2 },
    },
    indexOn: ['registered_at'],
  },
  {
    path: `${DELIVERIES}/{notification}`,
    holds: 'which devices were told of a notification, or are being told; removed after two days',
    reads: 'nobody',
    writes: 'nobody',
    keeper: 'the consumer of `reminders`; the sweep',
    indexOn: ['at'],
  },
  {
    path: realtimeCommitPath('{id}'),
    holds:
      'that a `firebase.write` was carried out, or what its transaction built on: with a new key, an increment or an `idempotency_key`; removed after an hour, with a key after 24',
    reads: 'nobody',
    writes: 'nobody',
    keeper: 'its writer, together with the write, who can read it and not change it; the sweep',
    indexOn: ['expires_at'],
  },
  {
    path: busPath('{log}'),
    also: [`${busPath('{log}')}/log/{entry}`],
    holds: "a subscription's log of events, the state that it has led to, and which instance watches for it",
    reads: 'nobody',
    writes: 'nobody',
    keeper: 'readers of subscriptions, `firebase.subscribe`, `firebase.unsubscribe`, the sweep',
  },
  {
    path: `${LIMITS}/{uid}`,
    holds: 'how many calls a principal has left: the token bucket of its rate limit',
    reads: 'nobody',
    writes: 'nobody',
    keeper: 'calls, in leases of several; the sweep',
    indexOn: ['at'],
  },
  {
    path: `${UNREADABLE}/{path}`,
    holds: 'stored documents that could not be read, and when one last was not; removed a day after',
    reads: 'nobody',
    writes: 'nobody',
    keeper: 'whoever reads; the sweep',
    indexOn: ['at'],
  },
  {
    path: `${METRICS_MINUTES}/{minute}`,
    also: [`${METRICS_MINUTES}/202611220124/tools/{tool}`],
    holds: 'calls, failures, milliseconds and errors of a minute, altogether and by tool, for 24 hours',
    reads: 'nobody',
    writes: 'nobody',
    keeper: 'calls, every few seconds; the sweep',
  },
  {
    path: `${METRICS_AGENTS}/{agentId}`,
    holds: 'calls, failures, milliseconds and errors of an agent, and since when they are counted',
    reads: 'nobody',
    writes: 'nobody',
    keeper: 'calls, every few seconds',
  },
  {
    path: ELSEWHERE,
    also: ['tasks/{id}', 'elsewhere/messages/{id}', 'metrics/{id}'],
    holds: 'nothing',
    reads: 'nobody',
    writes: 'nobody',
  },
];

export const collections: readonly Collection[] = [
  ...firestoreCollections.map((row) => ({ ...row, database: 'firestore' as const })),
  ...realtimeCollections.map((row) => ({ ...row, database: 'realtime' as const })),
];
