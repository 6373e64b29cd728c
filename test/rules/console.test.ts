/** Every query of the console is open to whom it is for, and closed to everybody else. */
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

const IDS = { session: 'session-c', task: 'task-c', agent: 'agent-c', run: 'run-c' };

/** What a workspace's viewers see, and what is a person's own. */
const PERSONAL = ['requestsTo', 'runsOf', 'run', 'openTodos', 'doneTodos', 'recurringOf', 'person'];

const NOW = Timestamp.fromMillis(Date.UTC(2026, 10, 24));

/** Something for each to find: a rule that looks at what is there has to be asked about something. */
const DOCUMENTS: Readonly<Record<string, object>> = {
  'workspaces/default': { session: IDS.session },
  [`workspaces/default/sessions/${IDS.session}`]: { goal: 'See' },
  [`workspaces/default/sessions/${IDS.session}/counters/0`]: { counts: {} },
  'workspaces/default/agentCounts/0': { total: 1 },
  [`tasks/${IDS.task}`]: {
    workspace: 'default',
    session: IDS.session,
    status: 'available',
    stuck: true,
    created_at: NOW,
  },
  'tasks/task-done': { workspace: 'default', session: IDS.session, status: 'done', completed_at: NOW },
  [`tasks/${IDS.task}/logs/0`]: { workspace: 'default', first_line: 0 },
  [`agents/${IDS.agent}`]: { workspace: null, owner_uid: uid, last_seen: NOW },
  'requests/request-c': {
    asked_of: uid,
    owner_uid: uid,
    workspace: 'default',
    state: 'open',
    created_at: NOW,
  },
  [`runs/${IDS.run}`]: { owner_uid: uid, workspace: 'default', created_at: NOW },
  'recurringTasks/recurring-c': { owner_uid: uid, ended: false, created_at: NOW },
  'todos/todo-d': { owner_uid: uid, completed: true, completed_at: NOW },
  'todos/todo-c': { owner_uid: uid, completed: false, created_at: NOW },
};

describe('rules, asked by the console', () => {
  const environment = useEnvironment();
  const asked = consoleQueries({ uid, workspace: 'default', ...IDS });

  before(async () => {
    const { firestore, realtime } = environment.unbound;
    for (const [path, value] of Object.entries(DOCUMENTS)) await setDoc(doc(firestore, path), value);
    await set(ref(realtime, `presence/${IDS.agent}`), { last_seen: 1, workspace: 'default' });
  });

  const stranger = callerNamed('somebody with an account only');
  const viewer = callerNamed('a viewer of the deployment');

  const leader = callerNamed('a leader of the deployment');

  /** Who sees it, who of the next ones does not, and what is said of that. */
  function audienceOf(name: string): readonly [seeing: Caller, blind: Caller, words: string] {
    if (PERSONAL.includes(name)) return [OWNER, viewer, 'its owner alone'];
    if (name === 'latestMinutes') return [leader, viewer, 'leaders of the deployment, and to no viewer'];
    return [viewer, stranger, 'a viewer, and to nobody without a role'];
  }

  for (const [name, queries] of Object.entries(asked)) {
    const [seeing, blind, words] = audienceOf(name);
    it(`show ${name} to ${words}`, async () => {
      for (const one of queries) {
        await assertSucceeds(ask(seeing, one));
        await assertFails(ask(blind, one));
      }
    });
  }

  it('are asked about everything that is personal', () => {
    assert.deepEqual(
      PERSONAL.filter((name) => asked[name] === undefined),
      [],
    );
  });

  function ask(caller: Caller, one: ConsoleQuery): Promise<unknown> {
    return sent(environment.as(caller), one);
  }
});

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
