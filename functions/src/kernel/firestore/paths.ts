/** Where everything lies in Firestore. Used by stores, triggers and the rules tests alike. */
import { segmentOf } from '../ids.ts';

/** The collections at the root. Source: docs/data-model.md#firestore. */
export const COLLECTIONS = {
  agents: 'agents',
  credentials: 'credentials',
  mailboxes: 'mailboxes',
  grants: 'grants',
  authorizations: 'authorizations',
  clients: 'clients',
  people: 'people',
  access: 'access',
  accessChanges: 'accessChanges',
  invitations: 'invitations',
  workspaces: 'workspaces',
  tasks: 'tasks',
  discoveries: 'discoveries',
  idempotency: 'idempotency',
  commits: 'commits',
  writers: 'writers',
  pullRequests: 'pullRequests',
  subscriptions: 'subscriptions',
  skills: 'skills',
  events: 'events',
  reminders: 'reminders',
  audit: 'audit',
  trail: 'trail',
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
  requests: 'requests',
  graph: 'graph',
  budgets: 'budgets',
  reservations: 'reservations',
} as const;

/** Over how many documents a workspace's counts of agents are spread. */
export const AGENT_COUNT_SHARDS = 4;

/** Over how many documents what is measured of a hosted agent is spread. */
export const MEASURE_SHARDS = 4;

/** Source: https://firebase.google.com/docs/firestore/quotas#collections_documents_and_fields */
const segment = segmentOf(/\/|\p{Cs}|^(?:\.\.?|__.*__|)$/su, 1500);

type PathOf = (id: string) => string;

/** The path of a document of a collection, by its id. */
function documentIn(collection: string): PathOf {
  return (id) => `${collection}/${segment(id)}`;
}

/** The path of a document of a collection below a document, by the ids of both. */
function documentUnder(parentPath: PathOf, collection: string): (parentId: string, id: string) => string {
  return (parentId, id) => `${parentPath(parentId)}/${collection}/${segment(id)}`;
}

/** The path of what a document has below it under a name. */
function under(parentPath: PathOf, name: string): PathOf {
  return (parentId) => `${parentPath(parentId)}/${name}`;
}

export const agentPath = documentIn(COLLECTIONS.agents);

export const skillPath = documentIn(COLLECTIONS.skills);
export const credentialPath = documentIn(COLLECTIONS.credentials);

/** What an app may do that somebody has signed in from. */
export const grantPath = documentIn(COLLECTIONS.grants);

/** A sign-in that is under way. */
export const authorizationPath = documentIn(COLLECTIONS.authorizations);

/** An app that has registered itself. */
export const clientPath = documentIn(COLLECTIONS.clients);
export const mailboxPath = documentIn(COLLECTIONS.mailboxes);

/** That somebody may do something else than before. */
export const accessChangePath = documentIn(COLLECTIONS.accessChanges);

/** Which revision of a function serves. */

export const taskPath = documentIn(COLLECTIONS.tasks);

/** The chunks of a task's log, among them what else was logged about it. */
export const TASK_LOGS = 'logs';

export const taskLogPath = documentUnder(taskPath, TASK_LOGS);

const CHUNK_DIGITS = 8;

/** A chunk of a task's log, from 0. */
export function taskLogChunkPath(taskId: string, chunk: number): string {
  return taskLogPath(taskId, String(chunk).padStart(CHUNK_DIGITS, '0'));
}

/** What the attempts at a coding task brought. */
export const TASK_RESULTS = 'results';

/** A part, from 0, of what an attempt at a coding task brought. */
export function taskResultPath(taskId: string, epoch: number | string, part: number | string): string {
  return `${taskPath(taskId)}/${TASK_RESULTS}/${segment(`${epoch}-${part}`)}`;
}

/** By the repository's id, which outlives its name, and its number: `29114-7`. */
export const pullRequestPath = documentIn(COLLECTIONS.pullRequests);

export const discoveryPath = documentIn(COLLECTIONS.discoveries);
export const todoPath = documentIn(COLLECTIONS.todos);

/** Keeps a title and due date for one open to-do of an owner. */
export const titleGuardPath = documentIn(COLLECTIONS.titleGuards);
export const recurringTaskPath = documentIn(COLLECTIONS.recurringTasks);

/** A workflow that somebody has saved. */
export const workflowPath = documentIn(COLLECTIONS.workflows);

/** @param id a hosted agent's name and a shard, as in `claude-0` */
export const agentMeasurePath = documentIn(COLLECTIONS.agentMeasures);

/** What happened to a to-do: the audit trail and the outbox. */
export const eventPath = documentIn(COLLECTIONS.events);

/** That an event arrived. */
export const auditPath = documentIn(COLLECTIONS.audit);

/** What one commit of a call has changed. */
export const trailPath = documentIn(COLLECTIONS.trail);

/** By the notification's id. */
export const mailPath = documentIn(COLLECTIONS.mail);
export const preferencesPath = documentIn(COLLECTIONS.preferences);

/** By the to-do's id. */
export const reminderPath = documentIn(COLLECTIONS.reminders);
export const idempotencyPath = documentIn(COLLECTIONS.idempotency);

/** That a commit was carried out which creates nothing that could hold its id. */
export const commitPath = documentIn(COLLECTIONS.commits);

/** The same of a write that somebody made as themselves. */
export const writersCommitPath = documentUnder(documentIn(COLLECTIONS.writers), COLLECTIONS.commits);
export const subscriptionPath = documentIn(COLLECTIONS.subscriptions);

/** Names the workspace's open session. */
export const workspacePath = documentIn(COLLECTIONS.workspaces);

/** The counts of the agents that are in the workspace. */
export const agentCountsPath = under(workspacePath, 'agentCounts');

/** How hosted agents have done in the workspace, by kind of work. */
export const workRecordPath = under(workspacePath, 'routing/work');

/** The people who have a role in a workspace. */
export const MEMBERS = 'members';
export const memberPath = documentUnder(workspacePath, MEMBERS);

/** What a person may do, where: one document, by which the security rules decide. */
export const personPath = documentIn(COLLECTIONS.people);

/** Which workspaces there are, and which of them are open. */
export const WORKSPACE_ACCESS_PATH = `${COLLECTIONS.access}/workspaces`;

/** @param id a digest of the workspace and the address */
export const invitationPath = documentIn(COLLECTIONS.invitations);
export const sessionPath = documentUnder(workspacePath, 'sessions');

/** Where a workspace keeps the sessions that other goals have replaced. */
export const ARCHIVE = 'archive';
export const archivedSessionPath = documentUnder(workspacePath, ARCHIVE);

export function countersPath(workspace: string, session: string): string {
  return `${sessionPath(workspace, session)}/counters`;
}

/** What is written when more of a session can be claimed than before: one of them, by its number from 0. */
export function gatesPath(workspace: string, session: string): string {
  return `${sessionPath(workspace, session)}/gates`;
}

/** An orchestration. */
export const runPath = documentIn(COLLECTIONS.runs);

/** What a run is to do. */
export const runOrderPath = under(runPath, 'order/1');

/** What a run's steps did, by their numbers. */
export const runStepsPath = under(runPath, 'steps');

/** The journal of a run's calls. */
export const runCallsPath = under(runPath, 'calls');

/** Which run answers a question. */
export const answerPath = documentIn(COLLECTIONS.answerCache);

/** A question to a person. */
export const requestPath = documentIn(COLLECTIONS.requests);
/** What is known of a thing and of everything below it. @param key as nodeKey makes it */
export const graphPath = documentIn(COLLECTIONS.graph);

/** How much may be spent. @param key as budgetKey makes it */
export const budgetPath = documentIn(COLLECTIONS.budgets);

/** What is spent of it, and what is reserved. */
export const budgetCountsPath = under(budgetPath, 'counts/1');

/** What a call in flight has reserved. */
export const reservationPath = documentIn(COLLECTIONS.reservations);

/** What one sweep tells the next. */
export const sweepPath = documentIn(COLLECTIONS.sweeps);
