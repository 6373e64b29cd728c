/** Writers, audit effects and loosenings of the changes of all features. */

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
import { type LooseningOf, neverLoosens } from '../kernel/loosening.ts';
import type { SignInChange } from '../signin/rules/clients.ts';
import { signInWriters } from '../signin/store/signIns.ts';
import type { CodingChange } from '../toolsets/coding/rules/ports.ts';
import { codingWriters } from '../toolsets/coding/store/logs.ts';
import type { CoordinationChange } from '../toolsets/coordination/rules/ports.ts';
import { mailboxWriters } from '../toolsets/coordination/store/queries.ts';
import { SessionSpreads } from '../toolsets/coordination/store/sessions.ts';
import { coordinationEffects, sessionWriters, taskWriters } from '../toolsets/coordination/store/writers.ts';
import type { DataChange } from '../toolsets/firebase/rules/ports.ts';
import { subscriptionEffects, subscriptionWriters } from '../toolsets/firebase/store/subscriptions.ts';
import type { GitHubChange } from '../toolsets/github/rules/ports.ts';
import { linkEffects, linkWriters } from '../toolsets/github/store/pullRequests.ts';
import type { InboxChange } from '../toolsets/inbox/rules/ports.ts';
import { requestEffects, requestWriters } from '../toolsets/inbox/store/requests.ts';
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

/** Any change of a commit, of all features. */
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

/** Shard counts of sessions, as known to this instance. */
export const spreads = new SessionSpreads();

/** Writers of all kinds of changes. A kind without a writer does not compile. */
export const changeWriters: ChangeWriters<ChangeKinds> = {
  ...agentWriters,
  ...grantWriters,
  ...signInWriters,
  ...peopleWriters,
  ...workspaceWriters,
  ...graphWriters,
  ...budgetWriters,
  ...taskWriters,
  ...sessionWriters(spreads),
  ...mailboxWriters,
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
  // This kind only adds an audit effect.
  tell: () => undefined,
};

/** Audit effects of all kinds of changes. */
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
  tell: ({ effect }) => effect,
};

/** Loosenings of all kinds of changes. A kind without an entry does not compile. */
export const changeLoosening: LooseningOf<ChangeKinds> = {
  ...accessLoosening,
  ...budgetLoosening,
  // People consent to a sign-in on its page.
  ...neverLoosens('beginAuthorization', 'replaceAuthorization', 'endAuthorization', 'keepClient'),
  ...neverLoosens('enlist', 'recount', 'tell'),
  ...neverLoosens('createTask', 'replaceTask', 'removeTask', 'addDependents', 'removeDependent'),
  ...neverLoosens('dependencyDone', 'dependencyFailed', 'dependencyReopened', 'dependencyRevived'),
  ...neverLoosens('dependencyStuck', 'logFailedCheck', 'checkFailed', 'checkPassed'),
  // The first member and the access of a new workspace are separate changes with their own entries.
  ...neverLoosens('openSession', 'describeSession', 'archiveSession', 'reopenSession', 'sessionCleared'),
  ...neverLoosens(
    'queueGrew',
    'renewCapabilityKeys',
    'spreadSession',
    'count',
    'createDiscovery',
    'replaceMailbox',
  ),
  ...neverLoosens('appendLog', 'storeResult', 'linkPullRequest', 'replaceLink'),
  // A subscription delivers only events that its caller may read at that time.
  ...neverLoosens(
    'openSubscription',
    'endSubscription',
    'keepSubscription',
    'renewRights',
    'closeSubscription',
  ),
  ...neverLoosens('createTodo', 'replaceTodo', 'delegateTodo', 'deleteTodo', 'reserveTitle', 'releaseTitle'),
  ...neverLoosens('createRecurringTask', 'replaceRecurringTask', 'recordEvent'),
  ...neverLoosens('createReminder', 'moveReminder', 'setReminder', 'dropReminder', 'deleteReminder'),
  ...neverLoosens('createWorkflow', 'replaceWorkflow', 'deleteWorkflow', 'measureAgent', 'bookOutcomes'),
  ...neverLoosens(
    'createRun',
    'replaceRun',
    'removeRun',
    'recordStep',
    'startCall',
    'completeCall',
    'keepAnswer',
  ),
  // Only the person asked can approve a request: toolsets/inbox/rules/answering.ts.
  ...neverLoosens('createRequest', 'replaceRequest'),
};
