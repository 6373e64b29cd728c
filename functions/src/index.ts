export {
  auditEvents,
  executeRun,
  logDeadLetters,
  mirrorTaskQueue,
  mirrorTaskUpdates,
  notifyOfReminders,
  relayEvent,
  repairTodo,
  resumeRun,
  sendReminders,
  sweep,
} from './entry/events.ts';
/** The functions of the deployment. */
export { githubWebhook, mcp } from './entry/http.ts';
