/** Firestore paths, shared by stores, triggers and the tests of the security rules. */
import { segmentOf } from '../ids.ts';

/** Root collections. Source: docs/data-model.md#firestore. */
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

/** Documents across which a workspace's agent counts are sharded. */
export const AGENT_COUNT_SHARDS = 4;

/** Documents across which a hosted agent's measurements are sharded. */
export const MEASURE_SHARDS = 4;

/** Source: https://firebase.google.com/docs/firestore/quotas#collections_documents_and_fields */
const segment = segmentOf(/\/|\p{Cs}|^(?:\.\.?|__.*__|)$/su, 1500);

type PathOf = (id: string) => string;

/** Returns the path of a document in a collection. */
function documentIn(collection: string): PathOf {
  return (id) => `${collection}/${segment(id)}`;
}

/** Returns the path of a document in a subcollection. */
function documentUnder(parentPath: PathOf, collection: string): (parentId: string, id: string) => string {
  return (parentId, id) => `${parentPath(parentId)}/${collection}/${segment(id)}`;
}

/** Returns a path below a document. */
function under(parentPath: PathOf, name: string): PathOf {
  return (parentId) => `${parentPath(parentId)}/${name}`;
}

export const agentPath = documentIn(COLLECTIONS.agents);

export const skillPath = documentIn(COLLECTIONS.skills);
export const credentialPath = documentIn(COLLECTIONS.credentials);

/** Grant of an app that a person has signed in from. */
export const grantPath = documentIn(COLLECTIONS.grants);

/** Pending sign-in. */
export const authorizationPath = documentIn(COLLECTIONS.authorizations);

/** App that registered itself. */
export const clientPath = documentIn(COLLECTIONS.clients);
export const mailboxPath = documentIn(COLLECTIONS.mailboxes);

/** Invalidation record of an access change. */
export const accessChangePath = documentIn(COLLECTIONS.accessChanges);

export const taskPath = documentIn(COLLECTIONS.tasks);

/** Chunks of a task's log, including system messages. */
export const TASK_LOGS = 'logs';

export const taskLogPath = documentUnder(taskPath, TASK_LOGS);

const CHUNK_DIGITS = 8;

/** Returns the path of a chunk of a task's log, numbered from 0. */
export function taskLogChunkPath(taskId: string, chunk: number): string {
  return taskLogPath(taskId, String(chunk).padStart(CHUNK_DIGITS, '0'));
}

/** Results of the attempts at a coding task. */
export const TASK_RESULTS = 'results';

/** Returns the path of a part, numbered from 0, of the result of an attempt at a coding task. */
export function taskResultPath(taskId: string, epoch: number | string, part: number | string): string {
  return `${taskPath(taskId)}/${TASK_RESULTS}/${segment(`${epoch}-${part}`)}`;
}

/** The id consists of the repository's id, which does not change with its name, and the number: `29114-7`. */
export const pullRequestPath = documentIn(COLLECTIONS.pullRequests);

export const discoveryPath = documentIn(COLLECTIONS.discoveries);
export const todoPath = documentIn(COLLECTIONS.todos);

/** Reserves a title and due date for one open to-do of an owner. */
export const titleGuardPath = documentIn(COLLECTIONS.titleGuards);
export const recurringTaskPath = documentIn(COLLECTIONS.recurringTasks);

export const workflowPath = documentIn(COLLECTIONS.workflows);

/** @param id a hosted agent's name and a shard, as in `claude-0` */
export const agentMeasurePath = documentIn(COLLECTIONS.agentMeasures);

/** To-do event, for the audit log and the outbox. */
export const eventPath = documentIn(COLLECTIONS.events);

/** Receipt of an event. */
export const eventReceiptPath = documentIn(COLLECTIONS.audit);

/** Audit entry of one commit. */
export const auditPath = documentIn(COLLECTIONS.trail);

/** The id is the notification's. */
export const mailPath = documentIn(COLLECTIONS.mail);
export const preferencesPath = documentIn(COLLECTIONS.preferences);

/** The id is the to-do's. */
export const reminderPath = documentIn(COLLECTIONS.reminders);
export const idempotencyPath = documentIn(COLLECTIONS.idempotency);

/** Commit marker of a commit that creates no document to store its id in. */
export const commitPath = documentIn(COLLECTIONS.commits);

/** Commit marker of a write with the caller's own rights. */
export const writersCommitPath = documentUnder(documentIn(COLLECTIONS.writers), COLLECTIONS.commits);
export const subscriptionPath = documentIn(COLLECTIONS.subscriptions);

/** Contains the id of the workspace's open session. */
export const workspacePath = documentIn(COLLECTIONS.workspaces);

/** Counts of the workspace's agents. */
export const agentCountsPath = under(workspacePath, 'agentCounts');

/** Track records of hosted agents in the workspace, by kind of work. */
export const workRecordPath = under(workspacePath, 'routing/work');

/** People with a role in a workspace. */
export const MEMBERS = 'members';
export const memberPath = documentUnder(workspacePath, MEMBERS);

/** A person's roles in all workspaces: the one document that the security rules check. */
export const personPath = documentIn(COLLECTIONS.people);

/** List of the workspaces and of which of them are open. */
export const WORKSPACE_ACCESS_PATH = `${COLLECTIONS.access}/workspaces`;

/** @param id a digest of the workspace and the email address */
export const invitationPath = documentIn(COLLECTIONS.invitations);
export const sessionPath = documentUnder(workspacePath, 'sessions');

/** Sessions of a workspace that were archived when another goal replaced them. */
export const ARCHIVE = 'archive';
export const archivedSessionPath = documentUnder(workspacePath, ARCHIVE);

export function countersPath(workspace: string, session: string): string {
  return `${sessionPath(workspace, session)}/counters`;
}

/** Documents written when more tasks of a session become claimable, sharded by a number from 0. */
export function queueShardsPath(workspace: string, session: string): string {
  return `${sessionPath(workspace, session)}/gates`;
}

export const runPath = documentIn(COLLECTIONS.runs);

/** Definition of a run's work. */
export const runOrderPath = under(runPath, 'order/1');

/** Results of a run's steps, by step number. */
export const runStepsPath = under(runPath, 'steps');

/** Journal of a run's model calls. */
export const runCallsPath = under(runPath, 'calls');

/** Run that has the cached answer to a question. */
export const cachedResponsePath = documentIn(COLLECTIONS.answerCache);

export const requestPath = documentIn(COLLECTIONS.requests);
/** Graph node of a thing. @param key comes from nodeKey */
export const graphPath = documentIn(COLLECTIONS.graph);

/** Spending limit. @param key comes from budgetKey */
export const budgetPath = documentIn(COLLECTIONS.budgets);

/** Spent and reserved amounts of a budget. */
export const budgetCountsPath = under(budgetPath, 'counts/1');

/** Reservation of a call in flight. */
export const reservationPath = documentIn(COLLECTIONS.reservations);

/** State that one sweep passes to the next. */
export const sweepPath = documentIn(COLLECTIONS.sweeps);
