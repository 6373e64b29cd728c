/** The functions of the deployment. */
export { githubWebhook, mcp } from './entry/http.ts';
export { auditEvents, logDeadLetters, mirrorTaskUpdates, notifyOfReminders } from './entry/pubsub.ts';
export { executeRun } from './entry/queues.ts';
export { sendReminders, sweep } from './entry/schedules.ts';
export { mirrorTaskQueue, relayEvent, repairTodo, resumeRun } from './entry/triggers.ts';
