/** Scenarios for onboarding, the databases and GitHub. */
import { firestore } from '../../../../functions/src/kernel/firestore/client.ts';
import type { JsonObject } from '../../../../functions/src/kernel/json.ts';
import { answer } from '../../coordination/calls.ts';
import { type Prepared, type Scene, scenariosOf } from '../scene.ts';

const CODER = {
  agentInfo: { name: 'coder', type: 'developer', version: '1.0.0' },
  capabilities: [{ name: 'coding', category: 'work' }],
};

export const onboarding = scenariosOf('onboarding', {
  registerAgent: {
    'for the first time': async () => ({ args: CODER }),
    again: async (scene) => {
      await answer(scene, 'onboarding_registerAgent', CODER);
      return { args: { ...CODER, agentInfo: { ...CODER.agentInfo, version: '1.1.0' } } };
    },
  },
});

/** Scenarios that depend on an earlier call. */
export const system = scenariosOf('system', {
  setBudget: {
    'for a task without a budget': async (scene) => {
      const { task } = await answer(scene, 'coordination_create_task', { description: 'Count' });
      return { args: { kind: 'task', id: Object(task).id, money: 5 } };
    },
    'for a workspace with a budget': async (scene) => {
      const budget = { kind: 'workspace', id: scene.workspace };
      await answer(scene, 'system_setBudget', { ...budget, money: 5 });
      return { args: { ...budget, clear: ['money'], tokens: 1000 } };
    },
  },
  undo: {
    'of one event': async (scene) => {
      await answer(scene, 'todo_add_task', { title: 'Milk' });
      scene.pass(1);
      const { events } = await answer(scene, 'system_getAudit', { limit: 1 });
      return { args: { event_id: Object(events)[0].event_id } };
    },
    'of a created task': async (scene) => {
      await answer(scene, 'coordination_create_task', { description: 'One' });
      return latestUndone(scene);
    },
    'of a completed task with a dependent': async (scene) => {
      const { principal, agent_id, task_id } = await scene.holder();
      const draft = { description: 'After it', dependencies: [task_id] };
      await answer(scene, 'coordination_create_task', draft);
      scene.pass(1);
      const report = { agent_id, task_id, output: 'Done' };
      await answer(scene, 'coordination_complete_task', report, principal);
      return latestUndone(scene);
    },
    'of a cancelled task': async (scene) => {
      const { task_id } = await scene.holder();
      scene.pass(1);
      await answer(scene, 'coordination_cancel_task', { task_id });
      return latestUndone(scene);
    },
    'of all changes of an agent to a task': async (scene) => {
      const principal = scene.principal('ann');
      const agent_id = await scene.join('ann');
      await scene.createOne();
      const since = scene.now.toISOString();
      const { task } = await answer(scene, 'coordination_claim_task', { agent_id }, principal);
      const task_id = String(Object(task).id);
      scene.pass(1);
      await answer(scene, 'coordination_start_task', { agent_id, task_id }, principal);
      scene.pass(1);
      await answer(scene, 'coordination_complete_task', { agent_id, task_id, output: 'Done' }, principal);
      scene.pass(1);
      return { args: { agent_id, since } };
    },
    'of a write to a document': async (scene) => {
      const { args } = await document(scene, { operation: 'update', data: { count: 2, more: [1] } });
      await answer(scene, 'firebase_write', args);
      return latestUndone(scene, 'mine');
    },
    'of all changes of an agent': async (scene) => {
      const since = scene.now.toISOString();
      await answer(scene, 'todo_add_task', { title: 'Milk' });
      scene.pass(1);
      await answer(scene, 'todo_add_task', { title: 'Bread' });
      scene.pass(1);
      return { args: { agent_id: String(scene.leader.agent_id), since } };
    },
  },
});

/** Stores a document, and prepares a write to it as the caller. */
async function document(scene: Scene, more: JsonObject, fields: object = { count: 1 }): Promise<Prepared> {
  scene.now = new Date(); // Callers' tokens are valid in the present.
  const path = `shared/${scene.workspace}`;
  const { writeTime } = await firestore().doc(path).set(fields);
  const version = `${writeTime.seconds}.${writeTime.nanoseconds}`;
  const args = { database: 'firestore', path, data: { count: 2 }, ...more };
  const withVersion = more['expectedVersion'] === '' ? { ...args, expectedVersion: version } : args;
  return { args: withVersion };
}

const IN_TRANSACTION = { operation: 'update', transaction: true, expectedVersion: '' };

export const firebase = scenariosOf('firebase', {
  write: {
    'that sets': (scene) => document(scene, {}),
    'that merges': (scene) => document(scene, { merge: true }),
    'that increments': (scene) =>
      document(scene, { operation: 'update', data: { count: { __increment__: 1 } } }),
    'that pushes': async (scene) => {
      const { args } = await document(scene, { operation: 'push' });
      return { args: { ...args, path: `shared/${scene.workspace}/list` } };
    },
    'that deletes': (scene) => document(scene, { operation: 'delete', data: null }),
    'in a transaction': (scene) => document(scene, IN_TRANSACTION),
    'that increments in a transaction': (scene) =>
      document(scene, { ...IN_TRANSACTION, data: { count: { __increment__: 1 } } }),
    'that deletes in a transaction': (scene) =>
      document(scene, { ...IN_TRANSACTION, operation: 'delete', data: null }),
    'that creates in a transaction': async (scene) => {
      const { args } = await document(scene, { transaction: true, mustNotExist: true });
      return { args: { ...args, path: `shared/${scene.workspace}-new` } };
    },
  },
  subscribe: async (scene) => ({ args: subscription(scene) }),
  unsubscribe: async (scene) => {
    const { subscriptionId, ...rest } = subscription(scene);
    await answer(scene, 'firebase_subscribe', { subscriptionId, ...rest });
    return { args: { subscriptionId } };
  },
});

function subscription(scene: Scene) {
  scene.now = new Date();
  return {
    subscriptionId: 'sub-one',
    database: 'realtime',
    path: 'shared/watched',
    eventType: 'child_added',
    includeInitial: false,
  };
}

/** Creates a repository, and returns its final state as `elsewhere`. */
function repository(scene: Scene, more: JsonObject): Prepared {
  const repo = scene.vendors.repository(`repo-${scene.workspace}`);
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
  createIssue: async (scene) =>
    repository(scene, { title: 'Retries never end', body: 'See `src/retry.ts`.' }),
  createPR: {
    'without a task': async (scene) =>
      repository(scene, { title: 'End retries', head: 'fix/retries', base: 'main' }),
    'for a task': async (scene) => {
      const { principal, task_id } = await scene.holder();
      const wanted = { title: 'End retries', head: 'fix/retries', base: 'main', task_id };
      return { ...repository(scene, wanted), principal };
    },
  },
  createBranch: async (scene) => repository(scene, { branch: 'feature/login', from: 'main' }),
  commitFiles: async (scene) =>
    repository(scene, {
      branch: 'fix/retries',
      message: 'End retries',
      files: [{ path: 'src/retry.ts', content: 'export const MAX = 5;\n' }],
    }),
});

/** Returns the latest audit entry, ready to undo. */
async function latestUndone(scene: Scene, of = 'workspace'): Promise<Prepared> {
  scene.pass(1);
  const { events } = await answer(scene, 'system_getAudit', { of, limit: 1 });
  return { args: { event_id: Object(events)[0].event_id } };
}
