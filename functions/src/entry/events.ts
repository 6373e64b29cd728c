/** Functions that Firestore, Pub/Sub, Cloud Tasks and Cloud Scheduler call. Each calls one method of app.ts. */
import type { CloudEvent } from 'firebase-functions';
import { onDocumentCreated, onDocumentWritten } from 'firebase-functions/firestore';
import { HttpsError } from 'firebase-functions/https';
import { type MessagePublishedData, onMessagePublished } from 'firebase-functions/pubsub';
import { onSchedule } from 'firebase-functions/scheduler';
import { onTaskDispatched } from 'firebase-functions/tasks';
import { app } from '../app.ts';
import { database, globalOptions, mailSecrets, modelSecrets } from '../config.ts';
import { COLLECTIONS, WORKSPACE_ACCESS_PATH } from '../kernel/firestore/paths.ts';

/** Options of all Firestore triggers. If an event fails, it is retried. */
const followed = { ...globalOptions, database, retry: true } as const;

/** Publishes each event in the outbox collection `events` to the event's topics. */
export const relayEvent = onDocumentCreated(
  { document: `${COLLECTIONS.events}/{eventId}`, ...followed },
  async (event) => (await app()).services.relayEvent(event.params.eventId),
);

/**
 * Reacts to a changed task: updates the queue's mirror in the Realtime Database, marks dependents that can never
 * start, continues the run that waits for the task, makes tasks claimable that waited for the task's files, and adjusts
 * the shard count of the task's session.
 */
export const mirrorTaskQueue = onDocumentWritten(
  { document: `${COLLECTIONS.tasks}/{taskId}`, ...followed },
  async ({ params: { taskId }, data }) => {
    const { fileWaits, mirrorQueuedTask, orchestration, sessionSpreading, settleTask, tellIfGoalDone } = (await app())
      .services;
    await Promise.all([
      orchestration.runs.taskChanged(taskId),
      settleTask(taskId, data?.after.data()),
      fileWaits.taskWritten(taskId, data?.before.data(), data?.after.data()),
      mirrorQueuedTask(taskId, data?.before.data()),
      sessionSpreading.taskChanged(data?.after.data()),
      tellIfGoalDone(data?.before.data(), data?.after.data()),
    ]);
  },
);

/** Mirrors a person's roles for the Realtime Database rules, and ends work in workspaces that the person has lost. */
export const mirrorPerson = onDocumentWritten(
  { document: `${COLLECTIONS.people}/{uid}`, ...followed },
  async ({ params: { uid }, data }) => {
    const { leaving, mirrorPerson } = (await app()).services;
    await mirrorPerson(uid);
    await leaving.personWritten(uid, data?.before.data(), data?.after.data());
  },
);

/** Mirrors which workspaces are open. If one became private, ends the work of people who have no role in it. */
export const mirrorWorkspaces = onDocumentWritten(
  { document: WORKSPACE_ACCESS_PATH, ...followed },
  async ({ data }) => {
    const { leaving, mirrorWorkspaces } = (await app()).services;
    await mirrorWorkspaces();
    await leaving.workspacesWritten(data?.before.data(), data?.after.data());
  },
);

/** Repairs a to-do that a client changed directly in the database. */
export const repairTodo = onDocumentWritten({ document: `${COLLECTIONS.todos}/{todoId}`, ...followed }, async (event) =>
  (await app()).services.repairTodo(event.params.todoId, event.data?.before.data()),
);

/** Sends an email, if an SMTP server is configured. */
export const sendMail = onDocumentCreated(
  { document: `${COLLECTIONS.mail}/{mailId}`, ...followed, secrets: mailSecrets, timeoutSeconds: 60 },
  async (event) => (await app()).services.deliverMail(event.params.mailId),
);

/** Runs a call after its approval. If the instance crashes during the call, the sweep runs the call again. */
export const makeApprovedCall = onDocumentWritten(
  { document: `${COLLECTIONS.requests}/{requestId}`, ...followed, timeoutSeconds: 120 },
  async (event) => void (await (await app()).services.approvedCalls.execute(event.params.requestId)),
);

/** Completes a task when all its parts are done, and a to-do when the task that it was delegated to is done. */
export const followGraph = onDocumentWritten({ document: `${COLLECTIONS.graph}/{key}`, ...followed }, async (event) =>
  (await app()).services.followGraph(event.data?.after.data()),
);

/** After a budget has changed, continues the work that waits for it. */
export const followBudget = onDocumentWritten(
  { document: `${COLLECTIONS.budgets}/{key}`, ...followed },
  async (event) => (await app()).services.followBudget(event.data?.after.data()),
);

/** Records in the collection `audit` that each event was received. */
export const auditEvents = onMessagePublished({ topic: 'task-events', ...globalOptions, retry: true }, async (event) =>
  (await app()).services.consumers['task-events'].receive(messageIn(event)),
);

/** Logs an error for each message that no consumer could process. */
export const logDeadLetters = onMessagePublished({ topic: 'dead-letters', ...globalOptions }, async (event) =>
  (await app()).kernel.log.error('dead_letter', { ...messageIn(event), attributes: event.data.message.attributes }),
);

/** Mirrors changes of to-dos to the Realtime Database. */
export const mirrorTaskUpdates = onMessagePublished(
  { topic: 'task-updates', ...globalOptions, retry: true },
  async (event) => (await app()).services.consumers['task-updates'].receive(messageIn(event)),
);

/** Notifies people when their reminders are due. */
export const notifyOfReminders = onMessagePublished(
  { topic: 'reminders', ...globalOptions, retry: true },
  async (event) => (await app()).services.consumers['reminders'].receive(messageIn(event)),
);

function messageIn({ data: { message } }: CloudEvent<MessagePublishedData>) {
  return { id: message.messageId, text: Buffer.from(message.data, 'base64').toString() };
}

/** Executes the steps of a run until the run ends, waits, or reaches the time limit of this turn. */
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
    // The error makes Cloud Tasks deliver the message again.
    if ((await (await app()).services.runExecution.deliver(data)) === 'busy')
      throw new HttpsError('unavailable', 'Another instance is executing this run.');
  },
);

/** Runs the jobs of the sweep every minute: expired leases, offline agents, crashed instances, retention and more. */
export const sweep = onSchedule(
  { schedule: 'every 1 minutes', ...globalOptions, maxInstances: 1, timeoutSeconds: 540 },
  async () => void (await (await app()).sweep()),
);

/** Sends the reminders that are due, every minute. */
export const sendReminders = onSchedule(
  { schedule: 'every 1 minutes', ...globalOptions, maxInstances: 1, timeoutSeconds: 540 },
  async () => (await app()).services.sendReminders(),
);
