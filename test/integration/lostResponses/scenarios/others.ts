/** Scenarios for onboarding, system, the databases and GitHub. */
import { firestore } from '../../../../functions/src/kernel/firestore/client.ts';
import type { JsonObject } from '../../../../functions/src/kernel/json.ts';
import { answer } from '../../coordination/calls.ts';
import { type LostResponseFixture, type Prepared, scenariosOf } from '../fixture.ts';

const CODER = {
  agentInfo: { name: 'coder', type: 'developer', version: '1.0.0' },
  capabilities: [{ name: 'coding', category: 'work' }],
};

export const onboarding = scenariosOf('onboarding', {
  registerAgent: {
    'for the first time': async () => ({ args: CODER }),
    again: async (fixture) => {
      await answer(fixture, 'onboarding_registerAgent', CODER);
      return { args: { ...CODER, agentInfo: { ...CODER.agentInfo, version: '1.1.0' } } };
    },
  },
});

/** Scenarios of the system tools. Most of these tools need an earlier call. */
export const system = scenariosOf('system', {
  setBudget: {
    'for a task without a budget': async (fixture) => {
      const { task } = await answer(fixture, 'coordination_create_task', { description: 'Count' });
      return { args: { kind: 'task', id: Object(task).id, money: 5 } };
    },
    'for a workspace with a budget': async (fixture) => {
      const budget = { kind: 'workspace', id: fixture.workspace };
      await answer(fixture, 'system_setBudget', { ...budget, money: 5 });
      return { args: { ...budget, clear: ['money'], tokens: 1000 } };
    },
  },
  undo: {
    'of one event': async (fixture) => {
      await answer(fixture, 'todo_add_task', { title: 'Milk' });
      fixture.pass(1);
      const { events } = await answer(fixture, 'system_getAudit', { limit: 1 });
      return { args: { event_id: Object(events)[0].event_id } };
    },
    'of a created task': async (fixture) => {
      await answer(fixture, 'coordination_create_task', { description: 'One' });
      return latestUndone(fixture);
    },
    'of a completed task with a dependent': async (fixture) => {
      const { principal, agent_id, task_id } = await fixture.holder();
      const draft = { description: 'After it', dependencies: [task_id] };
      await answer(fixture, 'coordination_create_task', draft);
      fixture.pass(1);
      const report = { agent_id, task_id, output: 'Done' };
      await answer(fixture, 'coordination_complete_task', report, principal);
      return latestUndone(fixture);
    },
    'of a cancelled task': async (fixture) => {
      const { task_id } = await fixture.holder();
      fixture.pass(1);
      await answer(fixture, 'coordination_cancel_task', { task_id });
      return latestUndone(fixture);
    },
    'of all changes of an agent to a task': async (fixture) => {
      const principal = fixture.principal('ann');
      const agent_id = await fixture.join('ann');
      await fixture.createOne();
      const since = fixture.now.toISOString();
      const { task } = await answer(fixture, 'coordination_claim_task', { agent_id }, principal);
      const task_id = String(Object(task).id);
      fixture.pass(1);
      await answer(fixture, 'coordination_start_task', { agent_id, task_id }, principal);
      fixture.pass(1);
      await answer(fixture, 'coordination_complete_task', { agent_id, task_id, output: 'Done' }, principal);
      fixture.pass(1);
      return { args: { agent_id, since } };
    },
    'of a write to a document': async (fixture) => {
      const { args } = await document(fixture, { operation: 'update', data: { count: 2, more: [1] } });
      await answer(fixture, 'firebase_write', args);
      return latestUndone(fixture, 'mine');
    },
    'of all changes of an agent': async (fixture) => {
      const since = fixture.now.toISOString();
      await answer(fixture, 'todo_add_task', { title: 'Milk' });
      fixture.pass(1);
      await answer(fixture, 'todo_add_task', { title: 'Bread' });
      fixture.pass(1);
      return { args: { agent_id: String(fixture.leader.agent_id), since } };
    },
  },
});

/** Stores a document, and prepares a write to it as the caller. */
async function document(
  fixture: LostResponseFixture,
  more: JsonObject,
  fields: object = { count: 1 },
): Promise<Prepared> {
  fixture.now = new Date(); // Tokens of callers are valid only at the real time, so the clock is set to it.
  const path = `shared/${fixture.workspace}`;
  const { writeTime } = await firestore().doc(path).set(fields);
  const version = `${writeTime.seconds}.${writeTime.nanoseconds}`;
  const args = { database: 'firestore', path, data: { count: 2 }, ...more };
  const withVersion = more['expectedVersion'] === '' ? { ...args, expectedVersion: version } : args;
  return { args: withVersion };
}

const IN_TRANSACTION = { operation: 'update', transaction: true, expectedVersion: '' };

export const firebase = scenariosOf('firebase', {
  write: {
    'that sets': (fixture) => document(fixture, {}),
    'that merges': (fixture) => document(fixture, { merge: true }),
    'that increments': (fixture) => document(fixture, { operation: 'update', data: { count: { __increment__: 1 } } }),
    'that pushes': async (fixture) => {
      const { args } = await document(fixture, { operation: 'push' });
      return { args: { ...args, path: `shared/${fixture.workspace}/list` } };
    },
    'that deletes': (fixture) => document(fixture, { operation: 'delete', data: null }),
    'in a transaction': (fixture) => document(fixture, IN_TRANSACTION),
    'that increments in a transaction': (fixture) =>
      document(fixture, { ...IN_TRANSACTION, data: { count: { __increment__: 1 } } }),
    'that deletes in a transaction': (fixture) =>
      document(fixture, { ...IN_TRANSACTION, operation: 'delete', data: null }),
    'that creates in a transaction': async (fixture) => {
      const { args } = await document(fixture, { transaction: true, mustNotExist: true });
      return { args: { ...args, path: `shared/${fixture.workspace}-new` } };
    },
  },
  subscribe: async (fixture) => ({ args: subscription(fixture) }),
  unsubscribe: async (fixture) => {
    const { subscriptionId, ...rest } = subscription(fixture);
    await answer(fixture, 'firebase_subscribe', { subscriptionId, ...rest });
    return { args: { subscriptionId } };
  },
});

function subscription(fixture: LostResponseFixture) {
  fixture.now = new Date();
  return {
    subscriptionId: 'sub-one',
    database: 'realtime',
    path: 'shared/watched',
    eventType: 'child_added',
    includeInitial: false,
  };
}

/** Creates a repository. Returns the arguments, and as `elsewhere` a function that returns the repository's state. */
function repository(fixture: LostResponseFixture, more: JsonObject): Prepared {
  const repo = fixture.vendors.repository(`repo-${fixture.workspace}`);
  return {
    args: { owner: repo.owner, repo: repo.name, ...more },
    elsewhere: () => ({
      issues: repo.issues.length,
      pulls: repo.pulls.length,
      branches: [...repo.branches.keys()],
      commits: repo.objects.commits.size,
    }),
  };
}

export const github = scenariosOf('github', {
  createIssue: async (fixture) => repository(fixture, { title: 'Retries never end', body: 'See `src/retry.ts`.' }),
  createPR: {
    'without a task': async (fixture) =>
      repository(fixture, { title: 'End retries', head: 'fix/retries', base: 'main' }),
    'for a task': async (fixture) => {
      const { principal, task_id } = await fixture.holder();
      const wanted = { title: 'End retries', head: 'fix/retries', base: 'main', task_id };
      return { ...repository(fixture, wanted), principal };
    },
  },
  createBranch: async (fixture) => repository(fixture, { branch: 'feature/login', from: 'main' }),
  commitFiles: async (fixture) =>
    repository(fixture, {
      branch: 'fix/retries',
      message: 'End retries',
      files: [{ path: 'src/retry.ts', content: 'export const MAX = 5;\n' }],
    }),
});

/** Returns a call that undoes the latest audit entry. */
async function latestUndone(fixture: LostResponseFixture, of = 'workspace'): Promise<Prepared> {
  fixture.pass(1);
  const { events } = await answer(fixture, 'system_getAudit', { of, limit: 1 });
  return { args: { event_id: Object(events)[0].event_id } };
}
