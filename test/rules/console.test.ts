/** For each query of the console, the rules allow it to callers who need it, and deny it to other callers. */
import assert from 'node:assert/strict';
import { assertFails, assertSucceeds } from '@firebase/rules-unit-testing';
import { get, limitToLast, orderByChild, query as queryOfNodes, ref, set } from 'firebase/database';
import {
  collection,
  doc,
  getDoc,
  getDocs,
  limit,
  orderBy,
  query,
  setDoc,
  Timestamp,
  where,
} from 'firebase/firestore/lite';
import { type ConsoleQuery, consoleQueries } from '../integration/indexes/consoleQueries.ts';
import { type Caller, callerNamed, OWNER } from './callers.ts';
import { type Clients, useEnvironment } from './environment.ts';

const uid = String(OWNER.uid);

/** Queries for a person's own documents. Queries in neither this list nor `DEPLOYMENTS` are for one workspace. */
const PERSONAL = [
  ...[
    'requestsTo',
    'answeredRequests',
    'requestsAbout',
    'runsOf',
    'run',
    'dueTodos',
    'undatedTodos',
    'doneTodos',
    'recurringOf',
    'person',
  ],
  ...['todo', 'preferences', 'request', 'todosDueBy'],
];
const DEPLOYMENTS = ['latestMinutes', 'latestDays'];
const NOW = Timestamp.fromMillis(Date.UTC(2026, 10, 24));

interface Place {
  readonly workspace: string;
  readonly seeing: Caller;
  /** Callers with strong roles elsewhere who must not read this workspace. */
  readonly blind: readonly Caller[];
}

const PLACES: readonly Place[] = [
  {
    workspace: 'default',
    seeing: callerNamed('a viewer of the deployment'),
    blind: ['somebody with an account only', 'a leader of alpha'].map(callerNamed),
  },
  {
    workspace: 'alpha',
    seeing: callerNamed('a viewer of alpha'),
    blind: ['a admin of the deployment', 'a leader of gamma'].map(callerNamed),
  },
];

function idsIn(workspace: string) {
  return {
    session: `session-${workspace}`,
    task: `task-${workspace}`,
    agent: `agent-${workspace}`,
    run: `run-${workspace}`,
  };
}

/** Returns documents for the queries to find. Some rules allow a read only if the document exists. */
function documentsIn(workspace: string): Readonly<Record<string, object>> {
  const { session, task, agent, run } = idsIn(workspace);
  return {
    [`workspaces/${workspace}`]: { session },
    [`workspaces/${workspace}/sessions/${session}`]: { goal: 'See' },
    [`workspaces/${workspace}/sessions/${session}/counters/0`]: { counts: {} },
    [`workspaces/${workspace}/members/${uid}`]: { role: 'viewer' },
    [`tasks/${task}`]: {
      workspace,
      session,
      status: 'available',
      stuck: true,
      created_at: NOW,
      blockers: 1,
      priority: 5,
      budget_wait: 'task:x',
      lapsed_claims: [{ agent_id: 'a' }],
      failed_check: { at: NOW },
      words: ['sign'],
    },
    [`tasks/${task}-held`]: { workspace, session, status: 'claimed', created_at: NOW, lease_expires_at: NOW },
    [`tasks/${task}-claimable`]: { workspace, session, status: 'available', blockers: 0, priority: 5, created_at: NOW },
    [`tasks/${task}-done`]: { workspace, session, status: 'done', completed_at: NOW },
    [`discoveries/discovery-${workspace}`]: { workspace, session, created_at: NOW },
    [`tasks/${task}/logs/0`]: { workspace, first_line: 0 },
    [`tasks/${task}/messages/agent-1-message-1`]: { workspace, at: NOW },
    [`agents/${agent}`]: { workspace: workspace === 'default' ? null : workspace, owner_uid: uid, last_seen: NOW },
    [`runs/${run}`]: { owner_uid: uid, workspace, created_at: NOW },
    [`requests/request-${workspace}`]: { asked_of: uid, owner_uid: uid, workspace, state: 'open', created_at: NOW },
    [`requests/request-${workspace}-closed`]: {
      asked_of: uid,
      owner_uid: uid,
      workspace,
      state: 'answered',
      settled_at: NOW,
    },
    'requests/request-1': { asked_of: uid, owner_uid: uid, workspace: 'default', state: 'open', created_at: NOW },
    'recurringTasks/recurring-c': { owner_uid: uid, ended: false, created_at: NOW },
    'todos/todo-1': { owner_uid: uid, completed: false, due_date: NOW, created_at: NOW },
    [`preferences/${uid}`]: { push: false },
    'todos/todo-d': { owner_uid: uid, completed: true, completed_at: NOW },
    'todos/todo-c': { owner_uid: uid, completed: false, due_date: null, created_at: NOW },
  };
}

describe('console queries', () => {
  const environment = useEnvironment();

  before(async () => {
    const { firestore, realtime } = environment.unbound;
    for (const { workspace } of PLACES) {
      for (const [path, value] of Object.entries(documentsIn(workspace))) await setDoc(doc(firestore, path), value);
      await set(ref(realtime, `presence/${idsIn(workspace).agent}`), { last_seen: 1, workspace });
    }
  });

  for (const { workspace, seeing, blind } of PLACES) {
    const asked = consoleQueries({ uid, workspace, ...idsIn(workspace) });
    for (const [name, queries] of Object.entries(asked)) {
      if ([...PERSONAL, ...DEPLOYMENTS].includes(name)) continue;
      it(`the rules allow the query ${name} in ${workspace} only to callers with a role there`, async () => {
        for (const one of queries) await hold(one, seeing, blind);
      });
    }
  }

  const asked = consoleQueries({ uid, workspace: 'default', ...idsIn('default') });

  for (const name of PERSONAL)
    it(`the rules allow the query ${name} only to the owner of the documents`, async () => {
      const others = ['a viewer of the deployment', 'a admin of the deployment'].map(callerNamed);
      for (const one of asked[name] ?? []) await hold(one, OWNER, others);
    });

  for (const name of DEPLOYMENTS)
    it(`the rules allow the query ${name} only to leaders of the deployment`, async () => {
      const others = ['a viewer of the deployment', 'a leader of alpha'].map(callerNamed);
      for (const one of asked[name] ?? []) await hold(one, callerNamed('a leader of the deployment'), others);
    });

  for (const [name, queries] of Object.entries(asked)) {
    const named = PERSONAL.includes(name) ? ['owner_uid', 'asked_of'] : ['workspace'];
    const bare = queries.flatMap((one) => without(named, one));
    if (bare.length === 0) continue;
    it(`the rules deny the query ${name} if it has no condition on the owner or workspace`, async () => {
      const seeing = PERSONAL.includes(name) ? OWNER : callerNamed('a viewer of the deployment');
      for (const one of bare) await assertFails(sent(environment.as(seeing), one));
    });
  }

  it('every query name in the lists of this test is a query of the console', () => {
    const unknown = [...PERSONAL, ...DEPLOYMENTS].filter((name) => asked[name] === undefined);
    assert.deepEqual(unknown, []);
  });

  async function hold(one: ConsoleQuery, seeing: Caller, blind: readonly Caller[]): Promise<void> {
    await assertSucceeds(sent(environment.as(seeing), one));
    for (const other of blind) await assertFails(sent(environment.as(other), one));
  }
});

/** Returns the query without its conditions on the fields, or an empty list if it has no such condition. */
function without(fields: readonly string[], asked: ConsoleQuery): readonly ConsoleQuery[] {
  if (!('collection' in asked)) return [];
  const where = asked.where.filter(([field]) => !fields.includes(field));
  return where.length === asked.where.length ? [] : [{ ...asked, where }];
}

async function sent({ firestore, realtime }: Clients, asked: ConsoleQuery): Promise<unknown> {
  if ('document' in asked) return getDoc(doc(firestore, asked.document));
  if ('node' in asked) {
    const at = ref(realtime, asked.node);
    const { last, orderBy: child } = asked;
    if (last === undefined) return get(at);
    return get(
      child === undefined
        ? queryOfNodes(at, limitToLast(last))
        : queryOfNodes(at, orderByChild(child), limitToLast(last)),
    );
  }
  return getDocs(
    query(
      collection(firestore, asked.collection),
      ...asked.where.map(([field, comparison, value]) => where(field, comparison, value)),
      ...asked.orderBy.map(([field, direction]) => orderBy(field, direction)),
      limit(asked.limit),
    ),
  );
}
