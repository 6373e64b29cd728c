/** Where everything lies in Firestore. Used by the adapters, the triggers and the rules tests alike. */
import { nothingOfThisId } from '../errors.ts';

/** The collections at the root. Source: docs/data-model.md#firestore. */
export const COLLECTIONS = {
  agents: 'agents',
  credentials: 'credentials',
  workspaces: 'workspaces',
  tasks: 'tasks',
  discoveries: 'discoveries',
  idempotency: 'idempotency',
  commits: 'commits',
  writers: 'writers',
  pullRequests: 'pullRequests',
  subscriptions: 'subscriptions',
  registry: 'registry',
  skills: 'skills',
  events: 'events',
  reminders: 'reminders',
  audit: 'audit',
  mail: 'mail',
  preferences: 'preferences',
  todos: 'todos',
  titleGuards: 'titleGuards',
  recurringTasks: 'recurringTasks',
  workflows: 'workflows',
  agentMeasures: 'agentMeasures',
  runs: 'runs',
  answerCache: 'answerCache',
  sweeps: 'sweeps',
} as const;

/** The pattern of the trigger that watches to-dos. */
export const TODO_PATTERN = `${COLLECTIONS.todos}/{todoId}` as const;

/** The pattern of the trigger that watches tasks. */
export const TASK_PATTERN = `${COLLECTIONS.tasks}/{taskId}` as const;

/** The pattern of the trigger that relays events. */
export const EVENT_PATTERN = `${COLLECTIONS.events}/{eventId}` as const;

/** Over how many documents a workspace's counts of agents are spread: agents come and go seldom. */
export const MEMBER_SHARDS = 2;

/** Over how many documents the counts of all agents are spread. */
export const REGISTRY_SHARDS = 4;

/** Over how many documents what is measured of a hosted agent is spread. */
export const MEASURE_SHARDS = 4;

/** Over how many documents a session's counters are spread, so that commits at once seldom meet. */
export const COUNTER_SHARDS = 8;

/** What one segment may not be. Source: https://firebase.google.com/docs/firestore/quotas#collections_documents_and_fields */
const NO_SEGMENT = /\/|\p{Cs}|^(?:\.\.?|__.*__|)$/su;

const MAX_SEGMENT_BYTES = 1500;

/**
 * An id as a part of a path, so that no path leads elsewhere than it says.
 * @throws MusterError NOT_FOUND for what can be no document's id
 */
function segment(id: string): string {
  const isOne = !NO_SEGMENT.test(id) && Buffer.byteLength(id) <= MAX_SEGMENT_BYTES;
  if (!isOne) throw nothingOfThisId();
  return id;
}

export function agentPath(agentId: string): string {
  return `${COLLECTIONS.agents}/${segment(agentId)}`;
}

/** The counts of all agents. */
export function registryPath(shard: number | string): string {
  return `${COLLECTIONS.registry}/${segment(String(shard))}`;
}

export function skillPath(skillId: string): string {
  return `${COLLECTIONS.skills}/${segment(skillId)}`;
}

export function credentialPath(apiKey: string): string {
  return `${COLLECTIONS.credentials}/${segment(apiKey)}`;
}

export function taskPath(taskId: string): string {
  return `${COLLECTIONS.tasks}/${segment(taskId)}`;
}

/** The chunks of a task's log, among them what else was logged about it. */
export const TASK_LOGS = 'logs';

export function taskLogPath(taskId: string, entryId: string): string {
  return `${taskPath(taskId)}/${TASK_LOGS}/${segment(entryId)}`;
}

const CHUNK_DIGITS = 8;

/** A chunk of a task's log, from 0. */
export function taskLogChunkPath(taskId: string, chunk: number): string {
  return taskLogPath(taskId, String(chunk).padStart(CHUNK_DIGITS, '0'));
}

/** A part, from 0, of what an attempt at a coding task brought. */
export function taskResultPath(taskId: string, epoch: number | string, part: number | string): string {
  return `${taskPath(taskId)}/results/${segment(`${epoch}-${part}`)}`;
}

/** @param id as pullRequestId makes it */
export function pullRequestPath(id: string): string {
  return `${COLLECTIONS.pullRequests}/${segment(id)}`;
}

/** By the repository's id, which outlives its name. */
export function pullRequestId(repositoryId: number, number: number): string {
  return `${repositoryId}-${number}`;
}

export function discoveryPath(discoveryId: string): string {
  return `${COLLECTIONS.discoveries}/${segment(discoveryId)}`;
}

export function todoPath(todoId: string): string {
  return `${COLLECTIONS.todos}/${segment(todoId)}`;
}

/** Keeps a title and due date for one open to-do of an owner. */
export function titleGuardPath(id: string): string {
  return `${COLLECTIONS.titleGuards}/${segment(id)}`;
}

export function recurringTaskPath(id: string): string {
  return `${COLLECTIONS.recurringTasks}/${segment(id)}`;
}

/** A workflow that somebody has saved. */
export function workflowPath(id: string): string {
  return `${COLLECTIONS.workflows}/${segment(id)}`;
}

/** @param id a hosted agent's name and a shard, as in `claude-0` */
export function agentMeasurePath(id: string): string {
  return `${COLLECTIONS.agentMeasures}/${segment(id)}`;
}

/** What happened to a to-do: the audit trail and the outbox. */
export function eventPath(eventId: string): string {
  return `${COLLECTIONS.events}/${segment(eventId)}`;
}

/** That an event arrived. */
export function auditPath(eventId: string): string {
  return `${COLLECTIONS.audit}/${segment(eventId)}`;
}

/** By the notification's id. */
export function mailPath(notificationId: string): string {
  return `${COLLECTIONS.mail}/${segment(notificationId)}`;
}

export function preferencesPath(uid: string): string {
  return `${COLLECTIONS.preferences}/${segment(uid)}`;
}

/** By the to-do's id. */
export function reminderPath(taskId: string): string {
  return `${COLLECTIONS.reminders}/${segment(taskId)}`;
}

export function idempotencyPath(id: string): string {
  return `${COLLECTIONS.idempotency}/${segment(id)}`;
}

/** That a commit was carried out which creates nothing that could hold its id. */
export function commitPath(id: string): string {
  return `${COLLECTIONS.commits}/${segment(id)}`;
}

/** The same of a write that somebody made as themselves. */
export function writersCommitPath(uid: string, id: string): string {
  return `${COLLECTIONS.writers}/${segment(uid)}/${COLLECTIONS.commits}/${segment(id)}`;
}

export function subscriptionPath(id: string): string {
  return `${COLLECTIONS.subscriptions}/${segment(id)}`;
}

/** Names the workspace's open session. */
export function workspacePath(workspace: string): string {
  return `${COLLECTIONS.workspaces}/${segment(workspace)}`;
}

/** The counts of the agents that have a part in the workspace. */
export function membersPath(workspace: string): string {
  return `${workspacePath(workspace)}/members`;
}

export function sessionPath(workspace: string, session: string): string {
  return `${workspacePath(workspace)}/sessions/${segment(session)}`;
}

/** Where a workspace keeps the sessions that other goals have replaced. */
export const ARCHIVE = 'archive';

export function archivedSessionPath(workspace: string, session: string): string {
  return `${workspacePath(workspace)}/${ARCHIVE}/${segment(session)}`;
}

export function countersPath(workspace: string, session: string): string {
  return `${sessionPath(workspace, session)}/counters`;
}

/** An orchestration. */
export function runPath(runId: string): string {
  return `${COLLECTIONS.runs}/${segment(runId)}`;
}

/** What a run is to do. */
export function runOrderPath(runId: string): string {
  return `${runPath(runId)}/order/1`;
}

/** What a run's steps did, by their numbers. */
export function runStepsPath(runId: string): string {
  return `${runPath(runId)}/steps`;
}

/** The journal of a run's calls. */
export function runCallsPath(runId: string): string {
  return `${runPath(runId)}/calls`;
}

/** Which run answers a question. */
export function answerPath(key: string): string {
  return `${COLLECTIONS.answerCache}/${segment(key)}`;
}

/** What one sweep tells the next. */
export function sweepPath(name: string): string {
  return `${COLLECTIONS.sweeps}/${segment(name)}`;
}
