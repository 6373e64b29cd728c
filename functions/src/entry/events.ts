/** Functions called by Firestore, Pub/Sub, Cloud Tasks and Cloud Scheduler. Each calls one method of app.ts. */
import type { CloudEvent } from 'firebase-functions';
import { onDocumentCreated, onDocumentWritten } from 'firebase-functions/firestore';
import { HttpsError } from 'firebase-functions/https';
import { type MessagePublishedData, onMessagePublished } from 'firebase-functions/pubsub';
import { onSchedule } from 'firebase-functions/scheduler';
import { onTaskDispatched } from 'firebase-functions/tasks';
import { app } from '../app.ts';
import { database, globalOptions, modelSecrets } from '../config.ts';
import { COLLECTIONS, WORKSPACE_ACCESS_PATH } from '../kernel/firestore/paths.ts';

/** Options of the Firestore triggers. A failed event is retried. */
const followed = { ...globalOptions, database, retry: true } as const;

/** Publishes each event of the outbox `events` to its topics. */
export const relayEvent = onDocumentCreated({ document: `${COLLECTIONS.events}/{eventId}`, ...followed }, (event) =>
  app().services.relayEvent(event.params.eventId),
);

/**
 * Follows a task: updates its queue in the Realtime Database, marks dependents that can never start, continues the
 * run that waits for it, and adjusts the shard count of its session.
 */
export const mirrorTaskQueue = onDocumentWritten(
  { document: `${COLLECTIONS.tasks}/{taskId}`, ...followed },
  async ({ params: { taskId }, data }) => {
    const { mirrorQueuedTask, orchestration, sessionSpreading, settleTask } = app().services;
    await Promise.all([
      orchestration.runs.taskChanged(taskId),
      settleTask(taskId, data?.after.data()),
      mirrorQueuedTask(taskId, data?.before.data()),
      sessionSpreading.taskChanged(data?.after.data()),
    ]);
  },
);

/** Mirrors a person's roles for the Realtime Database rules, and ends their work where they lost access. */
export const mirrorPerson = onDocumentWritten(
  { document: `${COLLECTIONS.people}/{uid}`, ...followed },
  async ({ params: { uid }, data }) => {
    const { leaving, mirrorPerson } = app().services;
    await mirrorPerson(uid);
    await leaving.personWritten(uid, data?.before.data(), data?.after.data());
  },
);

/** Mirrors which workspaces are open, and ends the work of people whom a private workspace now excludes. */
export const mirrorWorkspaces = onDocumentWritten(
  { document: WORKSPACE_ACCESS_PATH, ...followed },
  async ({ data }) => {
    const { leaving, mirrorWorkspaces } = app().services;
    await mirrorWorkspaces();
    await leaving.workspacesWritten(data?.before.data(), data?.after.data());
  },
);

/** Repairs a to-do that was changed without the tools. */
export const repairTodo = onDocumentWritten({ document: `${COLLECTIONS.todos}/{todoId}`, ...followed }, (event) =>
  app().services.repairTodo(event.params.todoId, event.data?.before.data()),
);

/** Runs an approved call. If it is interrupted, the sweep runs it again. */
export const makeApprovedCall = onDocumentWritten(
  { document: `${COLLECTIONS.requests}/{requestId}`, ...followed, timeoutSeconds: 120 },
  async (event) => void (await app().services.approvedCalls.execute(event.params.requestId)),
);

/** Completes a task when its parts are done, and a to-do when its delegated task is done. */
export const followGraph = onDocumentWritten({ document: `${COLLECTIONS.graph}/{key}`, ...followed }, (event) =>
  app().services.followGraph(event.data?.after.data()),
);

/** Resumes work that waits for a budget, after the budget changes. */
export const followBudget = onDocumentWritten({ document: `${COLLECTIONS.budgets}/{key}`, ...followed }, (event) =>
  app().services.followBudget(event.data?.after.data()),
);

/** Records the receipt of each event in `audit`. */
export const auditEvents = onMessagePublished({ topic: 'task-events', ...globalOptions, retry: true }, (event) =>
  app().services.consumers['task-events'].receive(messageIn(event)),
);

/** Logs an error for each message that a consumer could not process or gave up. */
export const logDeadLetters = onMessagePublished({ topic: 'dead-letters', ...globalOptions }, (event) => {
  const { attributes } = event.data.message;
  app().kernel.log.error('dead_letter', { ...messageIn(event), attributes });
});

/** Mirrors to-do changes to the Realtime Database. */
export const mirrorTaskUpdates = onMessagePublished({ topic: 'task-updates', ...globalOptions, retry: true }, (event) =>
  app().services.consumers['task-updates'].receive(messageIn(event)),
);

/** Notifies people of due reminders. */
export const notifyOfReminders = onMessagePublished({ topic: 'reminders', ...globalOptions, retry: true }, (event) =>
  app().services.consumers['reminders'].receive(messageIn(event)),
);

/** Returns a published message with its data as text. */
function messageIn({ data: { message } }: CloudEvent<MessagePublishedData>) {
  return { id: message.messageId, text: Buffer.from(message.data, 'base64').toString() };
}

/** Executes a run's steps until it ends, waits, or reaches its turn's time limit. */
export const executeRun = onTaskDispatched<unknown>(
  {
    ...globalOptions,
    timeoutSeconds: 1800,
    memory: '512MiB',
    secrets: modelSecrets,
    concurrency: 20,
    retryConfig: { maxAttempts: 100, minBackoffSeconds: 1, maxBackoffSeconds: 30 },
    rateLimits: { maxConcurrentDispatches: 100 },
  },
  async ({ data }) => {
    // Cloud Tasks redelivers after an error.
    if ((await app().services.runExecution.deliver(data)) === 'busy')
      throw new HttpsError('unavailable', 'Another instance is executing this run.');
  },
);

/** Runs the cleanup jobs every minute: expired leases, offline agents, crashed instances, retention and more. */
export const sweep = onSchedule(
  { schedule: 'every 1 minutes', ...globalOptions, maxInstances: 1, timeoutSeconds: 540 },
  async () => void (await app().sweep()),
);

/** Sends due reminders, every minute. */
export const sendReminders = onSchedule(
  { schedule: 'every 1 minutes', ...globalOptions, maxInstances: 1, timeoutSeconds: 540 },
  () => app().services.sendReminders(),
);
