/** What Firestore, Pub/Sub, Cloud Tasks and Cloud Scheduler call, each bound to one method of app.ts. */
import type { CloudEvent } from 'firebase-functions';
import { onDocumentCreated, onDocumentWritten } from 'firebase-functions/firestore';
import { HttpsError } from 'firebase-functions/https';
import { type MessagePublishedData, onMessagePublished } from 'firebase-functions/pubsub';
import { onSchedule } from 'firebase-functions/scheduler';
import { onTaskDispatched } from 'firebase-functions/tasks';
import { app } from '../app.ts';
import { database, everywhere, modelSecrets } from '../config.ts';
import { COLLECTIONS, WORKSPACE_ACCESS_PATH } from '../kernel/firestore/paths.ts';

/** Of every function that follows documents: an event that it could not take comes again. */
const followed = { ...everywhere, database, retry: true } as const;

/** Publishes each event of the outbox `events` to its topics. */
export const relayEvent = onDocumentCreated(
  { document: `${COLLECTIONS.events}/{eventId}`, ...followed },
  (event) => app().services.relayEvent(event.params.eventId),
);

/**
 * Keeps the queues of the Realtime Database in step with `tasks` of Firestore, tells those that depend on a task
 * whether it can never start, lets a run go on whose step a live agent has done, and spreads a session that is busy.
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

/** Tells the Realtime Database's rules what a person may do, and ends what they began where they may not work. */
export const mirrorPerson = onDocumentWritten(
  { document: `${COLLECTIONS.people}/{uid}`, ...followed },
  async ({ params: { uid }, data }) => {
    const { leaving, mirrorPerson } = app().services;
    await mirrorPerson(uid);
    await leaving.personWritten(uid, data?.before.data(), data?.after.data());
  },
);

/** Tells them which workspaces are open, and ends what was begun in one that is private now by those who are not in it. */
export const mirrorWorkspaces = onDocumentWritten(
  { document: WORKSPACE_ACCESS_PATH, ...followed },
  async ({ data }) => {
    const { leaving, mirrorWorkspaces } = app().services;
    await mirrorWorkspaces();
    await leaving.workspacesWritten(data?.before.data(), data?.after.data());
  },
);

/** Makes what follows from a to-do that somebody changed past the tools. */
export const repairTodo = onDocumentWritten(
  { document: `${COLLECTIONS.todos}/{todoId}`, ...followed },
  (event) => app().services.repairTodo(event.params.todoId, event.data?.before.data()),
);

/** Makes a call that was approved. One that breaks off is made by the sweep. */
export const makeApprovedCall = onDocumentWritten(
  { document: `${COLLECTIONS.requests}/{requestId}`, ...followed, timeoutSeconds: 120 },
  async (event) => void (await app().services.approvedCalls.execute(event.params.requestId)),
);

/** Completes a task when all its parts are done that it waits for, and a to-do when the task is that was made of it. */
export const followGraph = onDocumentWritten(
  { document: `${COLLECTIONS.graph}/{key}`, ...followed },
  (event) => app().services.followGraph(event.data?.after.data()),
);

/** Lets go on what waits for a budget that somebody has set. */
export const followBudget = onDocumentWritten(
  { document: `${COLLECTIONS.budgets}/{key}`, ...followed },
  (event) => app().services.followBudget(event.data?.after.data()),
);

/** Records in `audit` that each event arrived. */
export const auditEvents = onMessagePublished({ topic: 'task-events', ...everywhere, retry: true }, (event) =>
  app().services.consumers['task-events'].receive(messageIn(event)),
);

/** Logs, as an error, each message that a consumer could never process or gave up. */
export const logDeadLetters = onMessagePublished({ topic: 'dead-letters', ...everywhere }, (event) => {
  const { attributes } = event.data.message;
  app().kernel.log.error('dead_letter', { ...messageIn(event), attributes });
});

/** Shows changes of to-dos in the Realtime Database, to those who watch them. */
export const mirrorTaskUpdates = onMessagePublished(
  { topic: 'task-updates', ...everywhere, retry: true },
  (event) => app().services.consumers['task-updates'].receive(messageIn(event)),
);

/** Tells people of reminders that are due. */
export const notifyOfReminders = onMessagePublished(
  { topic: 'reminders', ...everywhere, retry: true },
  (event) => app().services.consumers['reminders'].receive(messageIn(event)),
);

/** A published message, its data as text. */
function messageIn({ data: { message } }: CloudEvent<MessagePublishedData>) {
  return { id: message.messageId, text: Buffer.from(message.data, 'base64').toString() };
}

/** Executes the steps of a run, until it ends, waits, or has had its turn. */
export const executeRun = onTaskDispatched<unknown>(
  {
    ...everywhere,
    timeoutSeconds: 1800,
    memory: '512MiB',
    secrets: modelSecrets,
    concurrency: 20,
    retryConfig: { maxAttempts: 100, minBackoffSeconds: 1, maxBackoffSeconds: 30 },
    rateLimits: { maxConcurrentDispatches: 100 },
  },
  async ({ data }) => {
    // Cloud Tasks delivers again what was not done.
    if ((await app().services.runExecution.deliver(data)) === 'busy')
      throw new HttpsError('unavailable', 'Another instance is executing this run.');
  },
);

/** Each minute: lapsed leases, absent agents, runs of dead instances, tasks of archived sessions that runs await. */
export const sweep = onSchedule(
  { schedule: 'every 1 minutes', ...everywhere, maxInstances: 1, timeoutSeconds: 540 },
  async () => void (await app().sweep()),
);

/** Every minute it sends the reminders that are due. */
export const sendReminders = onSchedule(
  { schedule: 'every 1 minutes', ...everywhere, maxInstances: 1, timeoutSeconds: 540 },
  () => app().services.sendReminders(),
);
