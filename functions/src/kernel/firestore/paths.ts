/** Firestore paths, shared by stores, triggers and the tests of the security rules. */
import { MusterError } from '../errors.ts';

/** Collections at the root. Source: docs/data-model.md#firestore. */
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
  heldFiles: 'heldFiles',
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

export const AGENT_COUNT_SHARDS = 4;
export const MEASURE_SHARDS = 4;

/** Returns a function that validates an id as a path segment. @param forbidden pattern that no segment may match */
export function segmentOf(forbidden: RegExp, maxBytes: number): (id: string) => string {
  return (id) => {
    if (!forbidden.test(id) && new TextEncoder().encode(id).length <= maxBytes) return id;
    throw new MusterError('NOT_FOUND', 'Not found: this is not a valid id.', {
      suggestion: 'Use an id exactly as returned: letters, digits, "-" and "_".',
    });
  };
}

/** Source: https://firebase.google.com/docs/firestore/quotas#collections_documents_and_fields */
const segment = segmentOf(/\/|\p{Cs}|^(?:\.\.?|__.*__|)$/su, 1500);

type PathOf = (id: string) => string;

/** Returns a function that returns the path of a document in a root collection. */
function documentIn(collection: string): PathOf {
  return (id) => `${collection}/${segment(id)}`;
}

function documentUnder(parentPath: PathOf, collection: string): (parentId: string, id: string) => string {
  return (parentId, id) => `${parentPath(parentId)}/${collection}/${segment(id)}`;
}

function under(parentPath: PathOf, name: string): PathOf {
  return (parentId) => `${parentPath(parentId)}/${name}`;
}

export const agentPath = documentIn(COLLECTIONS.agents);
export const skillPath = documentIn(COLLECTIONS.skills);
export const credentialPath = documentIn(COLLECTIONS.credentials);

/** Grant of an app that a person has signed in from. */
export const grantPath = documentIn(COLLECTIONS.grants);

/** Sign-in that has started and not ended. */
export const authorizationPath = documentIn(COLLECTIONS.authorizations);

/** OAuth client: an app that registered on its own. */
export const clientPath = documentIn(COLLECTIONS.clients);
export const mailboxPath = documentIn(COLLECTIONS.mailboxes);

/** Record of an access change, which makes instances drop cached credentials. */
export const accessChangePath = documentIn(COLLECTIONS.accessChanges);
export const taskPath = documentIn(COLLECTIONS.tasks);

/** Files that the tasks of a session have reserved. The id is that of the session. */
export const heldFilesPath = documentIn(COLLECTIONS.heldFiles);

/** Subcollection with the chunks of a task's log, including system messages. */
export const TASK_LOGS = 'logs';
export const taskLogPath = documentUnder(taskPath, TASK_LOGS);
const CHUNK_DIGITS = 8;

/** Returns the path of a chunk of a task's log. Chunks are numbered from 0. */
export function taskLogChunkPath(taskId: string, chunk: number): string {
  return taskLogPath(taskId, String(chunk).padStart(CHUNK_DIGITS, '0'));
}

export const TASK_RESULTS = 'results';

/** Returns the path of a part of the result of one attempt at a coding task. Parts are numbered from 0. */
export function taskResultPath(taskId: string, epoch: number | string, part: number | string): string {
  return `${taskPath(taskId)}/${TASK_RESULTS}/${segment(`${epoch}-${part}`)}`;
}

export const TASK_MESSAGES = 'messages';

/** Returns the path of a message about a task. Ids of messages are unique per recipient. */
export function taskMessagePath(taskId: string, recipient: string, messageId: string): string {
  return `${taskPath(taskId)}/${TASK_MESSAGES}/${segment(`${recipient}-${messageId}`)}`;
}

/** The id consists of the repository's id, which renaming does not change, and the pull request number: `29114-7`. */
export const pullRequestPath = documentIn(COLLECTIONS.pullRequests);
export const discoveryPath = documentIn(COLLECTIONS.discoveries);
export const todoPath = documentIn(COLLECTIONS.todos);

/** Document that reserves a title and due date, so that an owner has only one such open to-do. */
export const titleGuardPath = documentIn(COLLECTIONS.titleGuards);
export const recurringTaskPath = documentIn(COLLECTIONS.recurringTasks);
export const workflowPath = documentIn(COLLECTIONS.workflows);

/** @param id a hosted agent's name and a shard number, as in `claude-0` */
export const agentMeasurePath = documentIn(COLLECTIONS.agentMeasures);

/** To-do event: an entry in the history of the to-do, and an event to publish. */
export const eventPath = documentIn(COLLECTIONS.events);
export const eventReceiptPath = documentIn(COLLECTIONS.audit);
export const auditPath = documentIn(COLLECTIONS.trail);

/** Email to send. The id is the id of the notification. */
export const mailPath = documentIn(COLLECTIONS.mail);
export const preferencesPath = documentIn(COLLECTIONS.preferences);

/** Reminder to send. The id is the id of the to-do. */
export const reminderPath = documentIn(COLLECTIONS.reminders);
export const idempotencyPath = documentIn(COLLECTIONS.idempotency);

/** Marker of a commit that creates no other document that can store the commit's id. */
export const commitPath = documentIn(COLLECTIONS.commits);

/** Marker of a commit that was written with the caller's own rights. */
export const writersCommitPath = documentUnder(documentIn(COLLECTIONS.writers), COLLECTIONS.commits);
export const subscriptionPath = documentIn(COLLECTIONS.subscriptions);

/** Document of a workspace, with the id of the open session. */
export const workspacePath = documentIn(COLLECTIONS.workspaces);
export const agentCountsPath = under(workspacePath, 'agentCounts');

/** Track records of hosted agents in the workspace, by kind of work. */
export const workRecordPath = under(workspacePath, 'routing/work');
export const MEMBERS = 'members';
export const memberPath = documentUnder(workspacePath, MEMBERS);

/** A person's roles in all workspaces. The security rules read only this document. */
export const personPath = documentIn(COLLECTIONS.people);

/** Document that lists all workspaces and states which of them are open. */
export const WORKSPACE_ACCESS_PATH = `${COLLECTIONS.access}/workspaces`;

/** @param id digest of the workspace and the email address */
export const invitationPath = documentIn(COLLECTIONS.invitations);
export const sessionPath = documentUnder(workspacePath, 'sessions');

/** Subcollection with the archived sessions of a workspace. A session is archived when a new goal replaces it. */
export const ARCHIVE = 'archive';
export const archivedSessionPath = documentUnder(workspacePath, ARCHIVE);

export function countersPath(workspace: string, session: string): string {
  return `${sessionPath(workspace, session)}/counters`;
}

/** Returns the path of a session's version shards. One of them is written whenever more tasks become claimable. */
export function queueShardsPath(workspace: string, session: string): string {
  return `${sessionPath(workspace, session)}/gates`;
}

export const runPath = documentIn(COLLECTIONS.runs);

/** Document that defines the work of a run. */
export const runOrderPath = under(runPath, 'order/1');

/** Results of a run's steps, by number of the step. */
export const runStepsPath = under(runPath, 'steps');

/** Journal of the model calls of a run. */
export const runCallsPath = under(runPath, 'calls');

/** Document that names the run with the cached answer to a question. */
export const cachedResponsePath = documentIn(COLLECTIONS.answerCache);
export const requestPath = documentIn(COLLECTIONS.requests);
/** Graph node of an item, by the key that nodeKey returns. */
export const graphPath = documentIn(COLLECTIONS.graph);
export const budgetPath = documentIn(COLLECTIONS.budgets);
export const budgetCountsPath = under(budgetPath, 'counts/1');
export const reservationPath = documentIn(COLLECTIONS.reservations);

/** State that a sweep leaves for the next sweep. */
export const sweepPath = documentIn(COLLECTIONS.sweeps);
