/** Where everything lies in the Realtime Database. Source: design, section 4. */
export const PRESENCE = 'presence';
export const TASK_QUEUE = 'tasks/queue';

export function presencePath(agentId: string): string {
  return `${PRESENCE}/${agentId}`;
}

export function queuedTaskPath(taskId: string): string {
  return `${TASK_QUEUE}/${taskId}`;
}
