/** The functions of the deployment. */
export { githubWebhook } from './entry/http/githubWebhook.ts';
export { mcp } from './entry/http/mcp.ts';
export { auditEvents } from './entry/pubsub/auditEvents.ts';
export { logDeadLetters } from './entry/pubsub/logDeadLetters.ts';
export { mirrorTaskUpdates } from './entry/pubsub/mirrorTaskUpdates.ts';
export { notifyOfReminders } from './entry/pubsub/notifyOfReminders.ts';
export { executeRun } from './entry/queues/executeRun.ts';
export { sendReminders } from './entry/schedules/sendReminders.ts';
export { sweep } from './entry/schedules/sweep.ts';
export { mirrorTaskQueue } from './entry/triggers/mirrorTaskQueue.ts';
export { relayEvent } from './entry/triggers/relayEvent.ts';
export { repairTodo } from './entry/triggers/repairTodo.ts';
export { resumeRun } from './entry/triggers/resumeRun.ts';
