/** Calls of every method of the stores that read Firestore, in every variant. */

import assert from 'node:assert/strict';
import type { Firestore } from '@google-cloud/firestore';
import type { PageRequest } from '../../../functions/src/kernel/paging.ts';
import { realtimeDatabase } from '../../../functions/src/kernel/realtime/database.ts';
import { ShardCounts } from '../../../functions/src/toolsets/coordination/store/sessions.ts';
import { SORT_FIELDS, SORT_ORDERS } from '../../../functions/src/toolsets/todo/rules/todo.ts';
import { documents } from '../../support/reading.ts';
import { sweepContextAt } from '../../unit/kernel/sweepContext.ts';
import { silent } from '../coordination/team.ts';

/** URL suffix with which separate instances of modules are loaded, so that calls of other tests do not count. */
export const APART = '?read-for-indexes';

const source = new URL('../../../functions/src/', import.meta.url);

type AgentReaders = typeof import('../../../functions/src/agents/store/agents.ts');
type CredentialReaders = typeof import('../../../functions/src/identity/store/credentials.ts');
type PeopleReaders = typeof import('../../../functions/src/identity/store/people.ts');
type BudgetReaders = typeof import('../../../functions/src/graph/store/budgets.ts');
type GraphReaders = typeof import('../../../functions/src/graph/store/nodes.ts');
type OnboardingFacts = typeof import('../../../functions/src/toolsets/onboarding/store/onboardingFacts.ts');
type QueueReaders = typeof import('../../../functions/src/toolsets/coordination/store/queue.ts');
type ReminderReaders = typeof import('../../../functions/src/toolsets/todo/store/reminders.ts');
type RequestReaders = typeof import('../../../functions/src/toolsets/inbox/store/requests.ts');
type RunReaders = typeof import('../../../functions/src/toolsets/orchestration/store/runs.ts');
type CoordinationReaders = typeof import('../../../functions/src/toolsets/coordination/store/queries.ts');
type SessionReaders = typeof import('../../../functions/src/toolsets/coordination/store/sessions.ts');
type RelayStore = typeof import('../../../functions/src/composition/reconciliation.ts');
type RepeatingStore = typeof import('../../../functions/src/composition/reconciliation.ts');
type RetentionStore = typeof import('../../../functions/src/composition/retention.ts');
type SkillReaders = typeof import('../../../functions/src/toolsets/system/store/queries.ts');
type SubscriptionStore = typeof import('../../../functions/src/toolsets/firebase/store/subscriptions.ts');
type TodoReaders = typeof import('../../../functions/src/toolsets/todo/store/todos.ts');
type TrailReaders = typeof import('../../../functions/src/toolsets/system/store/queries.ts');
type TaskHistories = typeof import('../../../functions/src/toolsets/todo/store/events.ts');
type WorkflowReaders = typeof import('../../../functions/src/toolsets/orchestration/store/workflows.ts');
type CodingTaskReaders = typeof import('../../../functions/src/toolsets/coding/store/tasks.ts');
type TaskLogReaders = typeof import('../../../functions/src/toolsets/coding/store/logs.ts');

const FIRST: PageRequest = { limit: 2 };
const NEXT: PageRequest = { limit: 2, after: { at: new Date(1), id: 'id-1' } };
const OWNED = { type: 'coding', owner: 'ada' };
const PLACE = { order: [], id: 'id-1' };
const [SESSION, NOW] = ['session-1', new Date()];
const MARK = { id: 'task-1', version: '1.0' };

type Call = (database: Firestore) => Promise<unknown>;

/** Calls by file. A test reports files that have queries but no calls. */
export const calls: Readonly<Record<string, readonly Call[]>> = {
  'agents/store/agents.ts': [...(await agentDirectoryCalls()), ...(await agentCalls())],
  'identity/store/credentials.ts': [
    ...(await credentialCalls()),
    ...(await grantCalls()),
    ...(await accessChangeCalls()),
  ],
  'identity/store/people.ts': await peopleCalls(),
  'graph/store/budgets.ts': await budgetCalls(),
  'graph/store/nodes.ts': await graphCalls(),
  'toolsets/coding/store/logs.ts': await taskLogCalls(),
  'toolsets/coding/store/tasks.ts': await codingTaskCalls(),
  'toolsets/coordination/store/queue.ts': await queueCalls(),
  'toolsets/coordination/store/queries.ts': await taskCalls(),
  'toolsets/coordination/store/sessions.ts': await sessionCalls(),
  'toolsets/firebase/store/subscriptions.ts': await subscriptionCalls(),
  'toolsets/inbox/store/requests.ts': await requestCalls(),
  'toolsets/onboarding/store/onboardingFacts.ts': await onboardingFactsCalls(),
  'toolsets/orchestration/store/runs.ts': await runCalls(),
  'toolsets/orchestration/store/workflows.ts': await workflowCalls(),
  'composition/reconciliation.ts': [...(await relayCalls()), ...(await repeatingCalls())],
  'composition/retention.ts': await retentionCalls(),
  'toolsets/system/store/queries.ts': [...(await skillCalls()), ...(await trailCalls())],
  'toolsets/todo/store/events.ts': await taskHistoryCalls(),
  'toolsets/todo/store/reminders.ts': [...(await recurringTaskCalls()), ...(await reminderCalls())],
  'toolsets/todo/store/todos.ts': [...(await todoCalls()), ...(await todoSearchCalls())],
};

async function relayCalls(): Promise<readonly Call[]> {
  const { relayJob }: RelayStore = await load('composition/reconciliation.ts');
  const turn = sweepContextAt(new Date('2026-11-22T09:30:00Z'));
  return [
    async (database) => {
      await database.doc('events/unrelayed').set({ timestamp: new Date('2026-11-22T08:00:00Z') });
      await relayJob(database, silent)(async () => undefined).run(turn);
    },
  ];
}

async function repeatingCalls(): Promise<readonly Call[]> {
  const { reconciliationJob }: RepeatingStore = await load('composition/reconciliation.ts');
  const nothing = async () => undefined;
  const repeated = {
    mirrorPerson: nothing,
    mirrorWorkspaces: nothing,
    mirrorQueuedTask: nothing,
    repairTodo: nothing,
    followGraph: nothing,
    followBudget: nothing,
    leaving: { end: async () => ({ codingTasks: 0, runs: 0, questions: 0 }) },
    orchestration: { runs: { taskChanged: nothing, cancelTree: nothing } },
    delegation: { taskClosed: nothing },
  };
  const since = new Date('2026-11-22T09:00:00Z');
  const sources = ['access', 'people', 'tasks', 'queues', 'graph', 'runs', 'todos', 'budgets'];
  return ['', 'id-1'].flatMap((after) =>
    sources.map((source) => async (database) => {
      const from = { at: since, id: `${source}/${after}` };
      const ports = {
        database,
        log: silent,
        realtime: realtimeDatabase,
        people: { workspaces: async () => ({}) },
        record: { read: async () => ({ behind: { repeats: { since, from } } }), saveBehind: nothing },
      };
      await reconciliationJob(ports)(repeated).run(sweepContextAt(since));
    }),
  );
}

async function retentionCalls(): Promise<readonly Call[]> {
  const { recordRetention }: RetentionStore = await load('composition/retention.ts');
  const days = { events: 1, trail: 1, logs: 1, runs: 1, tasks: 1 };
  const turn = sweepContextAt(new Date('2026-11-22T09:00:00Z'));
  return [
    async (database) => {
      const node = { deleted: true, ancestors: ['todo-gone'], created_at: new Date(0) };
      await database.doc('graph/todo-gone-part').set(node);
      const archived = { cleared: true, archived_at: new Date(0) };
      await database.doc('workspaces/alpha/archive/session-1').set(archived);
      for (const part of recordRetention(database, days)) await part.run(turn);
    },
  ];
}

async function peopleCalls(): Promise<readonly Call[]> {
  const { FirestorePeopleQueries: PeopleQueries }: PeopleReaders = await load('identity/store/people.ts');
  const queries = (database: Firestore) => new PeopleQueries(database, documents);
  return [
    (database) => queries(database).find('ada'),
    (database) => queries(database).findWithDeployment('ada'),
    (database) => queries(database).after(undefined, 2),
    (database) => queries(database).after('ada', 2),
    (database) => queries(database).workspaces(),
    (database) => queries(database).member('alpha', 'ada'),
    (database) => queries(database).members('alpha', 2),
    (database) => queries(database).members('alpha', 2, 'ada'),
    (database) => queries(database).invitation('id-1'),
    (database) => queries(database).invitationsFor('ada@example.com'),
    (database) => queries(database).invitationsTo('alpha'),
    (database) => queries(database).invitationsThrough('agent-1'),
    (database) => queries(database).leaders('alpha', 2),
    async (database) =>
      queries(database).watch(
        'ada',
        () => undefined,
        () => undefined,
      )(),
  ];
}

async function budgetCalls(): Promise<readonly Call[]> {
  const { FirestoreBudgetQueries: BudgetQueries }: BudgetReaders = await load('graph/store/budgets.ts');
  const queries = (database: Firestore) => new BudgetQueries(database, documents);
  return [
    (database) => queries(database).find('task-1'),
    (database) => queries(database).limited(['task-1']),
    (database) => queries(database).due(NOW, 2),
    (database) => queries(database).due(NOW, 2, NEXT.after),
  ];
}

async function graphCalls(): Promise<readonly Call[]> {
  const { FirestoreGraphQueries: GraphQueries }: GraphReaders = await load('graph/store/nodes.ts');
  const queries = (database: Firestore) => new GraphQueries(database, documents);
  return [
    (database) => queries(database).findAll(['task-1']),
    (database) => queries(database).countParts('task-1'),
    (database) => queries(database).descendants('task-1', FIRST),
    (database) => queries(database).descendants('task-1', NEXT),
    (database) => queries(database).failedDescendants('task-1'),
    (database) => queries(database).progressOf({ kind: 'task', id: '1' }),
    (database) => queries(database).openParts({ kind: 'task', id: '1' }, 'run'),
  ];
}

async function agentDirectoryCalls(): Promise<readonly Call[]> {
  const { FirestoreAgentDirectory: AgentDirectory }: AgentReaders = await load('agents/store/agents.ts');
  const kinds = ['active', 'busy', 'error'] as const;
  const workspace = 'alpha';
  const capabilities = ['coding', 'research'];
  const queries = [
    { workspace, capabilities: [] },
    { workspace, capabilities: [], type: 'developer' },
    { workspace, capabilities },
    { workspace, capabilities: ['coding'], type: 'developer', availability: 'idle' as const },
    ...[...kinds, 'idle' as const, 'offline' as const].map((availability) => ({
      workspace,
      capabilities: [],
      availability,
    })),
  ];
  return [
    ...queries.map(
      (query): Call =>
        (database) =>
          new AgentDirectory(database, documents).list(query, 2, undefined),
    ),
    (database) => new AgentDirectory(database, documents).list({ workspace, capabilities: [] }, 2, PLACE),
    (database) =>
      new AgentDirectory(database, documents).list({ workspace, capabilities: [], availability: 'busy' }, 2, {
        order: [0, 1],
        id: 'id-1',
      }),
    ...kinds.map(
      (kind): Call =>
        (database) =>
          new AgentDirectory(database, documents).count(workspace, kind),
    ),
    (database) => new AgentDirectory(database, documents).counts(workspace),
    (database) => new AgentDirectory(database, documents).leaders('alpha', 2),
    (database) => new AgentDirectory(database, documents).capabilitiesFrom('alpha', 'agent:', 2),
    (database) => new AgentDirectory(database, documents).online('alpha', 2),
    (database) => new AgentDirectory(database, documents).ofOwner('ada', 2, undefined),
    (database) => new AgentDirectory(database, documents).ofOwner('ada', 2, 'agent-1'),
  ];
}

async function onboardingFactsCalls(): Promise<readonly Call[]> {
  const { FirestoreOnboardingFacts }: OnboardingFacts = await load('toolsets/onboarding/store/onboardingFacts.ts');
  return [
    (database) => new FirestoreOnboardingFacts(database, documents).discovery('agent-1'),
    (database) => new FirestoreOnboardingFacts(database, documents).createdTask('agent-1'),
  ];
}

const ALL = { priorities: undefined, type: undefined };

async function queueCalls(): Promise<readonly Call[]> {
  const { FirestoreQueueQueries: QueueQueries }: QueueReaders = await load('toolsets/coordination/store/queue.ts');
  const queueOf = (database: Firestore) => new QueueQueries(database, documents, silent);
  const states = ['pending', 'blocked', 'assigned', 'in_progress'] as const;
  return [
    ...states.flatMap((state): Call[] => [
      (database) => queueOf(database).list(SESSION, state, ALL, { limit: 2 }),
      (database) => queueOf(database).list(SESSION, state, { ...ALL, priorities: { from: 1, to: 2 } }, { limit: 2 }),
      (database) => queueOf(database).list(SESSION, state, { ...ALL, type: 'coding' }, { limit: 2 }),
    ]),
    ...[
      [5, 0],
      [5, 0, 0],
    ].map(
      (order): Call =>
        (database) =>
          queueOf(database).list(SESSION, 'pending', ALL, { limit: 2, after: { order, id: 'id-1' } }),
    ),
    (database) =>
      queueOf(database).list(SESSION, 'blocked', ALL, { limit: 2, after: { order: [1, 5, 0], id: 'id-1' } }),
    (database) => queueOf(database).count(SESSION, 'pending'),
    (database) => queueOf(database).count(SESSION, 'blocked'),
    (database) => queueOf(database).oldest(SESSION),
    // The next two calls listen to one document. This needs no index.
    (database) => queueOf(database).growth('alpha', {}, AbortSignal.abort()),
    (database) => queueOf(database).growth('alpha', { session: SESSION, readAt: '20.0' }, AbortSignal.timeout(100)),
  ];
}

const ignore = (): void => undefined;

async function requestCalls(): Promise<readonly Call[]> {
  const { FirestoreRequestQueries: RequestQueries }: RequestReaders = await load('toolsets/inbox/store/requests.ts');
  const reader = (database: Firestore) => new RequestQueries(database, documents);
  const lists = (['asked_by', 'asked_of', 'owner_uid'] as const).flatMap((by) =>
    [undefined, 'alpha'].map(
      (workspace): Call =>
        (database) =>
          reader(database).list({ by, uid: 'ada', workspace, states: ['open', 'answered'] }, NEXT),
    ),
  );
  return [
    ...lists,
    (database) => reader(database).find('request-1'),
    (database) => reader(database).countOpen('agent:lead'),
    (database) => reader(database).openOf('agent:lead', 2),
    // Listens to the query of openOf, which the previous call records.
    async (database) => reader(database).watchOpenOf('agent:lead', ignore, ignore)(),
    (database) => reader(database).openBy('owner_uid', 'ada', 2),
    (database) => reader(database).openBy('asked_of', 'ada', 2, 'request-1'),
    (database) => reader(database).latestOf('key-1'),
    (database) => reader(database).approvedCallsDue(NOW, 2),
    (database) => reader(database).approvedCallsDue(NOW, 2, NEXT.after),
    (database) => reader(database).due(NOW, 2),
    (database) => reader(database).due(NOW, 2, NEXT.after),
    async (database) => {
      for await (const _ of reader(database).watch('request-1', AbortSignal.abort())) return;
    },
  ];
}

async function runCalls(): Promise<readonly Call[]> {
  const { FirestoreRunQueries: RunQueries }: RunReaders = await load('toolsets/orchestration/store/runs.ts');
  const reader = (database: Firestore) => new RunQueries(database, documents);
  return [
    (database) => reader(database).find('run-1'),
    (database) => reader(database).answer('key-1'),
    (database) =>
      reader(database)
        .order('run-1')
        .catch(() => undefined),
    (database) => reader(database).steps('run-1'),
    (database) => reader(database).journal('run-1', 'one.1'),
    (database) => reader(database).calls('run-1'),
    (database) => reader(database).list('owner-1', {}, NEXT),
    (database) => reader(database).list('owner-1', { workspace: 'alpha' }, FIRST),
    (database) => reader(database).list('owner-1', { workspace: 'alpha', status: 'running' }, FIRST),
    (database) => reader(database).list('owner-1', { status: 'running' }, FIRST),
    (database) => reader(database).openOf('ada', 2),
    (database) => reader(database).openOf('ada', 2, 'run-1'),
    (database) => reader(database).openIn('alpha', 2),
    (database) => reader(database).openIn('alpha', 2, 'run-1'),
    (database) => reader(database).due(NOW, 2),
    (database) => reader(database).due(NOW, 2, NEXT.after),
    (database) => reader(database).endedBefore(NOW, 2),
    (database) => reader(database).endedBefore(NOW, 2, NEXT.after),
    (database) => reader(database).deleteBelow('run-1'),
    (database) => reader(database).waitingFor('workspace-alpha', 2),
    (database) => reader(database).waitingFor('workspace-alpha', 2, 'run-1'),
    async (database) => {
      for await (const _run of reader(database).watch('run-1', AbortSignal.abort())) return;
    },
  ];
}

async function sessionCalls(): Promise<readonly Call[]> {
  const { FirestoreSessionQueries: SessionQueries }: SessionReaders = await load(
    'toolsets/coordination/store/sessions.ts',
  );
  const at = { workspace: 'workspace-1', id: SESSION, goal: '', master_plan: '', created_at: new Date(0) };
  const session = { ...at, queue_version: 0, capability_keys: [], spread: 1, first_gate: 0, counter_shards: 8 };
  return [
    (database) => new SessionQueries(database, documents, new ShardCounts()).growthAges(session),
    (database) => new SessionQueries(database, documents, new ShardCounts()).unusedShards(session, ['a', 'b'], 2),
    (database) => new SessionQueries(database, documents, new ShardCounts()).current('workspace-1'),
    (database) => new SessionQueries(database, documents, new ShardCounts()).opening('workspace-1'),
    async (database) => {
      await database.doc('workspaces/workspace-2').set({ session: SESSION });
      await database.doc(`workspaces/workspace-2/sessions/${SESSION}`).set({ ...session, workspace: 'workspace-2' });
      return new SessionQueries(database, documents, new ShardCounts()).currentWithAgent('workspace-2', 'agent-1');
    },
    (database) => new SessionQueries(database, documents, new ShardCounts()).archived('workspace-1', SESSION),
    (database) => new SessionQueries(database, documents, new ShardCounts()).lastArchived('workspace-1'),
    (database) => new SessionQueries(database, documents, new ShardCounts()).counters('workspace-1', SESSION),
    (database) => new SessionQueries(database, documents, new ShardCounts()).uncleared(2),
    (database) => new SessionQueries(database, documents, new ShardCounts()).discoveries(SESSION, undefined, FIRST),
    (database) => new SessionQueries(database, documents, new ShardCounts()).discoveries(SESSION, ['api'], NEXT),
    (database) =>
      new SessionQueries(database, documents, new ShardCounts()).discoveries(SESSION, ['api', 'tests'], FIRST),
  ];
}

async function skillCalls(): Promise<readonly Call[]> {
  const { FirestoreSkillQueries: SkillQueries }: SkillReaders = await load('toolsets/system/store/queries.ts');
  const queries = [
    { words: [] },
    { words: [], category: 'general' },
    { words: ['data'] },
    { words: ['data', 'analysis'] },
    { words: ['data'], category: 'general' },
  ];
  return queries.flatMap((query) =>
    [true, false].flatMap((includeDeprecated): Call[] => [
      (database) =>
        new SkillQueries(database, documents).find({ ...query, workspace: 'alpha', includeDeprecated }, 0, 2),
      (database) =>
        new SkillQueries(database, documents).find({ ...query, workspace: 'alpha', includeDeprecated }, 0, 0),
    ]),
  );
}

async function reminderCalls(): Promise<readonly Call[]> {
  const { FirestoreReminderQueries: ReminderQueries }: ReminderReaders = await load('toolsets/todo/store/reminders.ts');
  const read =
    <Result>(reading: (reader: InstanceType<typeof ReminderQueries>) => Promise<Result>): Call =>
    (database) =>
      reading(new ReminderQueries(database, documents));
  return [
    read((reader) => reader.find('todo-1')),
    read((reader) => reader.due(NOW, FIRST)),
    read((reader) => reader.due(NOW, NEXT)),
    read((reader) => reader.list('person-1', NOW, FIRST)),
    read((reader) => reader.list('person-1', undefined, NEXT)),
  ];
}

async function agentCalls(): Promise<readonly Call[]> {
  const { FirestoreAgentQueries: AgentQueries }: AgentReaders = await load('agents/store/agents.ts');
  return [
    (database) => new AgentQueries(database, documents).find('agent-1'),
    (database) => new AgentQueries(database, documents).findAll(['agent-1', 'agent-2']),
    (database) => new AgentQueries(database, documents).findWithAgent('key-1'),
    (database) => new AgentQueries(database, documents).offlineTerminals(NOW, 2),
    (database) => new AgentQueries(database, documents).offlineTerminals(NOW, 2, NEXT.after),
    (database) => new AgentQueries(database, documents).skillCounts(['skill-1']),
  ];
}

async function credentialCalls(): Promise<readonly Call[]> {
  const { FirestoreCredentialQueries: CredentialQueries }: CredentialReaders = await load(
    'identity/store/credentials.ts',
  );
  return [
    (database) => new CredentialQueries(database, documents).credentials('agent-1'),
    (database) => new CredentialQueries(database, documents).credentialsOf(['agent-1', 'agent-2']),
    (database) => new CredentialQueries(database, documents).hasCredential('agent-1'),
    (database) => new CredentialQueries(database, documents).ofLines(['key-1', 'key-2']),
    (database) => new CredentialQueries(database, documents).credentialsThrough('agent-1', 2),
    (database) => new CredentialQueries(database, documents).credentialsThrough('agent-1', 2, 'key-1'),
  ];
}

async function accessChangeCalls(): Promise<readonly Call[]> {
  const { FirestoreAccessChangeQueries: AccessChangeQueries }: CredentialReaders = await load(
    'identity/store/credentials.ts',
  );
  return [
    (database) => new AccessChangeQueries(database, documents).since(undefined),
    (database) => new AccessChangeQueries(database, documents).since(NOW),
  ];
}

async function grantCalls(): Promise<readonly Call[]> {
  const { FirestoreGrantQueries: GrantQueries }: CredentialReaders = await load('identity/store/credentials.ts');
  return [
    (database) => new GrantQueries(database, documents).find('grant-1'),
    (database) => new GrantQueries(database, documents).findAll(['grant-1', 'grant-2']),
    (database) => new GrantQueries(database, documents).ofAgents([]),
    (database) => new GrantQueries(database, documents).ofAgents(['agent-1', 'agent-2']),
  ];
}

async function subscriptionCalls(): Promise<readonly Call[]> {
  const { FirestoreSubscriptionQueries: SubscriptionQueries }: SubscriptionStore = await load(
    'toolsets/firebase/store/subscriptions.ts',
  );
  return [
    (database) => new SubscriptionQueries(database, documents).find('subscription-1'),
    (database) => new SubscriptionQueries(database, documents).count('agent:agent-1'),
    (database) => new SubscriptionQueries(database, documents).expired(NOW, 5),
  ];
}

async function taskCalls(): Promise<readonly Call[]> {
  const { FirestoreTaskQueries: TaskQueries, FirestoreMailboxQueries: MailboxQueries }: CoordinationReaders =
    await load('toolsets/coordination/store/queries.ts');
  const keys = Array.from({ length: 31 }, (_unused, index) => `key-${index}`);
  return [
    (database) => new MailboxQueries(database, documents).find('terminal-1'),
    async (database) => new MailboxQueries(database, documents).watch('terminal-1', ignore, ignore)(),
    // Listens to two documents. This needs no index.
    (database) =>
      new MailboxQueries(database, documents).arrival('terminal-1', MARK, () => true, AbortSignal.timeout(100)),
    (database) => new TaskQueries(database, documents).find('task-1'),
    (database) => new TaskQueries(database, documents).findAll([]),
    (database) => new TaskQueries(database, documents).findAll(['task-1', 'task-2']),
    (database) => new TaskQueries(database, documents).claimable(SESSION, ['key-1'], 5),
    (database) => new TaskQueries(database, documents).claimable(SESSION, ['key-1', 'key-2'], 5),
    (database) => new TaskQueries(database, documents).claimable(SESSION, keys, 5),
    (database) => new TaskQueries(database, documents).claimable(SESSION, keys, 5, { type: 'coding' }),
    (database) => new TaskQueries(database, documents).claimable(SESSION, ['key-1'], 5, OWNED),
    (database) => new TaskQueries(database, documents).claimable(SESSION, keys, 5, OWNED),
    (database) => new TaskQueries(database, documents).late(SESSION, NOW, 5),
    (database) => new TaskQueries(database, documents).countLate(SESSION, NOW),
    (database) => new TaskQueries(database, documents).withIdPrefix('run-1-'),
    (database) => new TaskQueries(database, documents).openCodingOf('ada', 2),
    (database) => new TaskQueries(database, documents).openCodingOf('ada', 2, 'task-1'),
    (database) => new TaskQueries(database, documents).openCodingIn('alpha', 2),
    (database) => new TaskQueries(database, documents).openCodingIn('alpha', 2, 'task-1'),
    (database) => new TaskQueries(database, documents).unsettled(2),
    (database) => new TaskQueries(database, documents).unsettled(2, 'task-1'),
    (database) => new TaskQueries(database, documents).waitingFor('budget_wait', 'task-1', { limit: 2 }),
    (database) =>
      new TaskQueries(database, documents).waitingFor('budget_wait', 'task-1', { limit: 2, after: 'task-1' }),
    (database) => new TaskQueries(database, documents).waitingFor('files_wait', 'task-1', { limit: 2 }),
    (database) =>
      new TaskQueries(database, documents).waitingFor('files_wait', 'task-1', { limit: 2, after: 'task-1' }),
    (database) => new TaskQueries(database, documents).waitingForFiles(SESSION, 2),
    (database) => new TaskQueries(database, documents).closedBefore(NOW, 2),
    (database) => new TaskQueries(database, documents).closedBefore(NOW, 2, NEXT.after),
    (database) => new TaskQueries(database, documents).deleteBelow('task-1'),
    (database) => new TaskQueries(database, documents).listStuck(SESSION, FIRST),
    (database) => new TaskQueries(database, documents).listStuck(SESSION, NEXT),
    (database) => new TaskQueries(database, documents).countStuck(SESSION),
    (database) => new TaskQueries(database, documents).openWithIdPrefix(SESSION, 'run-', 2),
    (database) => new TaskQueries(database, documents).notStarted(SESSION, 'agent-1'),
    (database) => new TaskQueries(database, documents).firstBackoff(SESSION),
    (database) => new TaskQueries(database, documents).list(SESSION, undefined, FIRST),
    (database) => new TaskQueries(database, documents).list(SESSION, ['done'], NEXT),
    (database) => new TaskQueries(database, documents).list(SESSION, ['done', 'failed'], FIRST),
    (database) => new TaskQueries(database, documents).listDone(SESSION, FIRST),
    (database) => new TaskQueries(database, documents).listDone(SESSION, NEXT),
    (database) => new TaskQueries(database, documents).expired(NOW, 5),
    (database) => new TaskQueries(database, documents).expired(NOW, 5, NEXT.after),
    (database) => new TaskQueries(database, documents).backedOff(NOW, 5),
    (database) => new TaskQueries(database, documents).backedOff(NOW, 5, NEXT.after),
    (database) => new TaskQueries(database, documents).unproven(NOW, 5),
    (database) => new TaskQueries(database, documents).unproven(NOW, 5, NEXT.after),
    (database) => new TaskQueries(database, documents).verifying(SESSION, 5),
    (database) => new TaskQueries(database, documents).countVerifying(SESSION),
    (database) => new TaskQueries(database, documents).reviews(SESSION, ['muster:review'], 9),
    (database) => new TaskQueries(database, documents).queueEnded(NOW, 5),
    (database) => new TaskQueries(database, documents).queueEnded(NOW, 5, NEXT.after),
  ];
}

async function codingTaskCalls(): Promise<readonly Call[]> {
  const { FirestoreCodingTaskQueries: CodingTaskQueries }: CodingTaskReaders = await load(
    'toolsets/coding/store/tasks.ts',
  );
  const read =
    (reading: (reader: InstanceType<typeof CodingTaskQueries>) => Promise<unknown>): Call =>
    (database) =>
      reading(new CodingTaskQueries(database, documents, silent));
  return [
    ...[{}, { branch: 'feature/auth' }, { project: 'owner/name' }].flatMap((filter) =>
      [FIRST, NEXT].map((page) => read((reader) => reader.list('alpha', filter, page))),
    ),
    read((reader) => reader.count('alpha', ['available', 'claimed'])),
    // The result does not exist, so the read fails.
    read((reader) => reader.result('task-1', { claim_epoch: 1, bytes: 2, parts: 1 }).catch(() => undefined)),
  ];
}

async function taskLogCalls(): Promise<readonly Call[]> {
  const { FirestoreTaskLogQueries: TaskLogQueries }: TaskLogReaders = await load('toolsets/coding/store/logs.ts');
  const read =
    (reading: (reader: InstanceType<typeof TaskLogQueries>) => Promise<unknown>): Call =>
    (database) =>
      reading(new TaskLogQueries(database, documents));
  return [
    read((reader) => reader.head('task-1')),
    read((reader) => reader.read('task-1', 0, 5)),
    read((reader) => reader.tail('task-1', 5, 1000)),
    read((reader) => reader.ofDay('alpha', 'agent', '2026-11-22', 5)),
    read(async (reader) => {
      for await (const taskId of reader.tasksWithOldLogs(NOW)) assert.fail(taskId);
    }),
    read((reader) => reader.remove('task-1')),
  ];
}

async function todoCalls(): Promise<readonly Call[]> {
  const { FirestoreTodoQueries: TodoQueries }: TodoReaders = await load('toolsets/todo/store/todos.ts');
  const filters = [
    { tags: [] },
    { tags: ['work'] },
    { tags: [], priority: 'HIGH' as const, completed: false },
    { tags: ['work', 'urgent'], priority: 'HIGH' as const, completed: false },
    { tags: [], dueAfter: NOW },
    { tags: ['work'], dueBefore: NOW, completed: true },
    { tags: [], dueAfter: NOW, dueBefore: NOW },
  ];
  const sorts = SORT_FIELDS.flatMap((by) => SORT_ORDERS.map((order) => ({ by, order })));
  const pages = [{ limit: 2 }, { limit: 2, after: { order: [1, 2, 3], id: 'id-1' } }];
  return [
    (database) => new TodoQueries(database, documents).find('todo-1'),
    (database) => new TodoQueries(database, documents).findReminded('todo-1'),
    (database) => new TodoQueries(database, documents).findAll(['todo-1', 'todo-2']),
    (database) => new TodoQueries(database, documents).findGuard('guard-1'),
    ...filters.flatMap((filter) =>
      sorts.flatMap((sort) =>
        pages.map(
          (page): Call =>
            (database) =>
              new TodoQueries(database, documents).list({ owner_uid: 'uid-1', ...filter }, sort, page),
        ),
      ),
    ),
  ];
}

async function todoSearchCalls(): Promise<readonly Call[]> {
  const { FirestoreTodoQueries: TodoQueries }: TodoReaders = await load('toolsets/todo/store/todos.ts');
  const pages = [
    { limit: 2 },
    { limit: 2, after: { order: [0], id: 'id-1' } },
    { limit: 2, after: { order: [1], id: 'id-1' } },
  ];
  return [['meeting'], ['meeting', 'report', '見積']].flatMap((words) =>
    pages.map(
      (page): Call =>
        (database) =>
          new TodoQueries(database, documents).search('uid-1', words, page),
    ),
  );
}

async function recurringTaskCalls(): Promise<readonly Call[]> {
  const { FirestoreRecurringTaskQueries: RecurringTaskQueries }: ReminderReaders = await load(
    'toolsets/todo/store/reminders.ts',
  );
  return [
    (database) => new RecurringTaskQueries(database, documents).find('recurring-1'),
    (database) => new RecurringTaskQueries(database, documents).list('uid-1', false, FIRST),
    (database) => new RecurringTaskQueries(database, documents).list('uid-1', true, NEXT),
  ];
}

async function trailCalls(): Promise<readonly Call[]> {
  const { FirestoreAuditLogQueries: TrailQueries }: TrailReaders = await load('toolsets/system/store/queries.ts');
  const narrowings = [undefined, { agentIds: ['agent-1', 'agent-2'] }, { runId: 'run-1' }, { thing: 'task:task-1' }];
  const whose = [{ ownerUid: 'ada' }, { ownerUid: 'ada', calledIn: 'alpha' }, { workspace: 'alpha' }];
  const filters = whose.flatMap((one) => narrowings.map((narrowed) => ({ whose: one, narrowed })));
  const undoable = whose
    .slice(0, 2)
    .flatMap((one) => narrowings.slice(1, 3).map((narrowed) => ({ whose: one, narrowed, notUndone: true as const })));
  return [
    (database) => new TrailQueries(database, documents).find('entry-1'),
    ...[...filters, ...undoable].flatMap((filter): readonly Call[] => [
      (database) => new TrailQueries(database, documents).list(filter, FIRST),
      (database) => new TrailQueries(database, documents).list({ ...filter, since: NOW, until: NOW }, NEXT),
    ]),
  ];
}

async function taskHistoryCalls(): Promise<readonly Call[]> {
  const { FirestoreTaskHistory }: TaskHistories = await load('toolsets/todo/store/events.ts');
  return [
    (database) => new FirestoreTaskHistory(database, documents).find('event-1'),
    (database) => new FirestoreTaskHistory(database, documents).history('uid-1', 'todo-1', FIRST),
    (database) => new FirestoreTaskHistory(database, documents).history('uid-1', 'todo-1', NEXT),
  ];
}

async function workflowCalls(): Promise<readonly Call[]> {
  const {
    FirestoreAgentMeasures: AgentMeasures,
    FirestoreWorkflowQueries: WorkflowQueries,
    FirestoreWorkRecordQueries: WorkRecordQueries,
  }: WorkflowReaders = await load('toolsets/orchestration/store/workflows.ts');
  return [
    (database) => new AgentMeasures(database, documents).read(['claude']),
    (database) => new WorkRecordQueries(database, documents).find('alpha'),
    (database) => new WorkflowQueries(database, documents).find('workflow-1'),
    (database) => new WorkflowQueries(database, documents).list('uid-1', 2, undefined),
    (database) => new WorkflowQueries(database, documents).list('uid-1', 2, 'mine'),
  ];
}

function load<Module>(file: string): Promise<Module> {
  return import(new URL(`${file}${APART}`, source).href);
}
