/** Changes of every feature: how they are written and audited, and which limits they loosen. */
import { accessLoosening } from '../access/rules/loosening.ts';
import type { AccessChange } from '../access/rules/ports.ts';
import { workspaceEffects, workspaceWriters } from '../access/store/workspaces.ts';
import { agentEffects, agentWriters } from '../agents/store/agents.ts';
import { budgetLoosening } from '../graph/rules/budget.ts';
import type { GraphChange } from '../graph/rules/ports.ts';
import { budgetEffects, budgetWriters } from '../graph/store/budgets.ts';
import { graphWriters } from '../graph/store/nodes.ts';
import { grantWriters } from '../identity/store/credentials.ts';
import { peopleEffects, peopleWriters } from '../identity/store/people.ts';
import type { ChangeWriters, EffectsOf } from '../kernel/firestore/store.ts';
import { type LooseningOf, noLoosening } from '../kernel/loosening.ts';
import type { SignInChange } from '../signin/rules/clients.ts';
import { signInWriters } from '../signin/store/signIns.ts';
import type { CodingChange } from '../toolsets/coding/rules/ports.ts';
import { codingWriters } from '../toolsets/coding/store/logs.ts';
import type { CoordinationChange } from '../toolsets/coordination/rules/ports.ts';
import { fileWriters } from '../toolsets/coordination/store/heldFiles.ts';
import { mailboxWriters } from '../toolsets/coordination/store/queries.ts';
import { ShardCounts } from '../toolsets/coordination/store/sessions.ts';
import { coordinationEffects, sessionWriters, taskWriters } from '../toolsets/coordination/store/writers.ts';
import type { DataChange } from '../toolsets/firebase/rules/ports.ts';
import { subscriptionEffects, subscriptionWriters } from '../toolsets/firebase/store/subscriptions.ts';
import type { GitHubChange } from '../toolsets/github/rules/ports.ts';
import { linkEffects, linkWriters } from '../toolsets/github/store/pullRequests.ts';
import type { InboxChange } from '../toolsets/inbox/rules/ports.ts';
import { questionEffects, questionWriters, requestEffects, requestWriters } from '../toolsets/inbox/store/requests.ts';
import type { OrchestrationChange } from '../toolsets/orchestration/rules/ports.ts';
import { runWriters } from '../toolsets/orchestration/store/runs.ts';
import {
  measureWriters,
  orchestrationEffects,
  workflowWriters,
  workWriters,
} from '../toolsets/orchestration/store/workflows.ts';
import type { TodoChange } from '../toolsets/todo/rules/ports.ts';
import { reminderWriters } from '../toolsets/todo/store/events.ts';
import { todoEffects, todoWriters } from '../toolsets/todo/store/todos.ts';

export type Change =
  | AccessChange
  | GraphChange
  | SignInChange
  | CoordinationChange
  | CodingChange
  | DataChange
  | GitHubChange
  | InboxChange
  | OrchestrationChange
  | TodoChange;

export type ChangeKinds = { readonly [Kind in Change['kind']]: Extract<Change, { readonly kind: Kind }> };

/** Shard counts of the sessions that this instance has read. */
export const shardCounts = new ShardCounts();

/** Writers for every kind of change. If a kind has no writer, the compiler reports an error. */
export const changeWriters: ChangeWriters<ChangeKinds> = {
  ...agentWriters,
  ...grantWriters,
  ...signInWriters,
  ...peopleWriters,
  ...workspaceWriters,
  ...graphWriters,
  ...budgetWriters,
  ...taskWriters,
  ...sessionWriters(shardCounts),
  ...mailboxWriters,
  ...fileWriters,
  ...codingWriters,
  ...linkWriters,
  ...subscriptionWriters,
  ...todoWriters,
  ...reminderWriters,
  ...workflowWriters,
  ...measureWriters,
  ...workWriters,
  ...runWriters,
  ...requestWriters,
  ...questionWriters(reminderWriters.recordEvent),
  // A change of this kind writes nothing. It only adds an audit entry.
  audit: () => undefined,
};

export const changeEffects: EffectsOf<ChangeKinds> = {
  ...agentEffects,
  ...peopleEffects,
  ...workspaceEffects,
  ...budgetEffects,
  ...coordinationEffects,
  ...linkEffects,
  ...subscriptionEffects,
  ...todoEffects,
  ...orchestrationEffects,
  ...requestEffects,
  ...questionEffects,
  audit: ({ effect }) => effect,
};

/** Limits that each kind of change loosens. If a kind is missing, the compiler reports an error. */
export const changeLoosening: LooseningOf<ChangeKinds> = {
  ...accessLoosening,
  ...budgetLoosening,
  // People agree to a sign-in on the sign-in page, so no approval is needed.
  ...noLoosening('startAuthorization', 'replaceAuthorization', 'endAuthorization', 'storeClient'),
  ...noLoosening('addNode', 'updateNode', 'audit'),
  ...noLoosening('createTask', 'replaceTask', 'removeTask', 'addDependents', 'removeDependent'),
  ...noLoosening('dependencyDone', 'dependencyFailed', 'dependencyReopened', 'dependencyRevived'),
  ...noLoosening('dependencyStuck', 'logFailedCheck', 'checkFailed', 'checkPassed'),
  // The first member and the access of a new workspace are separate changes, which have their own entries here.
  ...noLoosening('openSession', 'describeSession', 'archiveSession', 'reopenSession', 'sessionCleared'),
  ...noLoosening('queueGrew', 'renewCapabilityKeys', 'shardSession', 'count', 'createDiscovery', 'replaceMailbox'),
  ...noLoosening('holdFiles', 'freeFiles'),
  ...noLoosening('appendLog', 'storeResult', 'linkPullRequest', 'replaceLink'),
  // A subscription delivers only events that its caller may read at the time of delivery.
  ...noLoosening('openSubscription', 'endSubscription', 'extendSubscription', 'renewRights', 'closeSubscription'),
  ...noLoosening('createTodo', 'replaceTodo', 'delegateTodo', 'deleteTodo', 'reserveTitle', 'releaseTitle'),
  ...noLoosening('createRecurringTask', 'replaceRecurringTask', 'recordEvent'),
  ...noLoosening('createReminder', 'moveReminder', 'setReminder', 'cancelReminder', 'deleteReminder'),
  ...noLoosening('createWorkflow', 'replaceWorkflow', 'deleteWorkflow', 'measureAgent', 'recordOutcomes'),
  ...noLoosening('createRun', 'replaceRun', 'removeRun', 'recordStep', 'startCall', 'completeCall', 'cacheResponse'),
  // Only the person who is asked can approve a request. See toolsets/inbox/rules/answering.ts.
  ...noLoosening('createRequest', 'replaceRequest', 'askAboutResult', 'withdrawQuestion'),
};
