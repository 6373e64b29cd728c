/** Where everything lies in Firestore. Used by the adapters, the triggers and the rules tests alike. */

/** The collections at the root. Source: design, section 4. */
export const COLLECTIONS = {
  agents: 'agents',
  credentials: 'credentials',
  workspaces: 'workspaces',
  tasks: 'tasks',
  discoveries: 'discoveries',
  idempotency: 'idempotency',
} as const;

/** The pattern of the trigger that watches tasks. */
export const TASK_PATTERN = `${COLLECTIONS.tasks}/{taskId}` as const;

/** Over how many documents a workspace's counts of agents are spread: agents come and go seldom. */
export const MEMBER_SHARDS = 2;

/** Over how many documents a session's counters are spread, so that commits at once seldom meet. */
export const COUNTER_SHARDS = 8;

export function agentPath(agentId: string): string {
  return `${COLLECTIONS.agents}/${agentId}`;
}

export function credentialPath(apiKey: string): string {
  return `${COLLECTIONS.credentials}/${apiKey}`;
}

export function taskPath(taskId: string): string {
  return `${COLLECTIONS.tasks}/${taskId}`;
}

export function discoveryPath(discoveryId: string): string {
  return `${COLLECTIONS.discoveries}/${discoveryId}`;
}

export function idempotencyPath(id: string): string {
  return `${COLLECTIONS.idempotency}/${id}`;
}

/** Names the workspace's open session. */
export function workspacePath(workspace: string): string {
  return `${COLLECTIONS.workspaces}/${workspace}`;
}

/** The counts of the agents that have a part in the workspace. */
export function membersPath(workspace: string): string {
  return `${workspacePath(workspace)}/members`;
}

export function sessionPath(workspace: string, session: string): string {
  return `${workspacePath(workspace)}/sessions/${session}`;
}

export function archivedSessionPath(workspace: string, session: string): string {
  return `${workspacePath(workspace)}/archive/${session}`;
}

export function countersPath(workspace: string, session: string): string {
  return `${sessionPath(workspace, session)}/counters`;
}
