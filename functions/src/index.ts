/** The functions that a deployment consists of. */

export {
  auditEvents,
  executeRun,
  followBudget,
  followGraph,
  logDeadLetters,
  makeApprovedCall,
  mirrorPerson,
  mirrorTaskQueue,
  mirrorTaskUpdates,
  mirrorWorkspaces,
  notifyOfReminders,
  relayEvent,
  repairTodo,
  sendMail,
  sendReminders,
  sweep,
} from './entry/events.ts';
export { githubWebhook, mcp } from './entry/http.ts';
