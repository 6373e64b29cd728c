/** Creates items in Ann's workspace through her agents, and names for items that do not exist. */
import assert from 'node:assert/strict';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { readWorkflow } from '../../../functions/src/toolsets/orchestration/rules/workflows/validation.ts';
import type { CallerName, TenancyFixture } from './fixture.ts';

/** Names and ids of items, which all exist or are all missing. */
export interface Ids {
  readonly workspace: string;
  /** First path segment of free-form data, which is the workspace's name. */
  readonly place: string;
  readonly owner: string;
  readonly agent: string;
  readonly terminal: string;
  readonly task: string;
  readonly held: string;
  readonly done: string;
  readonly coding: string;
  readonly session: string;
  readonly branch: string;
  readonly project: string;
  readonly run: string;
  readonly subscription: string;
  readonly todo: string;
  readonly recurring: string;
  readonly workflow: string;
  readonly request: string;
}

export async function makeThings(fixture: TenancyFixture): Promise<Ids> {
  const { alpha, secret } = fixture;
  const worker = fixture.agentId('worker');
  const as = (caller: CallerName, tool: string, args: JsonObject) => fixture.result(caller, alpha, tool, args);
  await as('ann the leader', 'coordination.init_coordination', { goal: secret, master_plan: secret });
  await as('ann the worker', 'coordination.register_agent', { agent_id: worker, role: 'worker' });
  const { agent: terminal } = await as('ann the worker', 'coordination.register_agent', {
    agent_id: `terminal-${fixture.mark}`,
    role: 'worker',
  });
  const claim = async () => {
    await as('ann the leader', 'coordination.create_task', { description: secret, priority: 1 });
    return idIn((await as('ann the worker', 'coordination.claim_task', { agent_id: worker }))['task']);
  };
  const done = await claim();
  const reporting = { agent_id: worker, task_id: done, output: secret };
  await as('ann the worker', 'coordination.complete_task', reporting);
  const held = await claim();
  await as('ann the worker', 'coordination.start_task', { agent_id: worker, task_id: held });
  const task = idIn((await as('ann the leader', 'coordination.create_task', { description: secret }))['task']);
  const discovery = { agent_id: worker, content: secret, tags: [secret] };
  await as('ann the worker', 'coordination.add_discovery', discovery);
  const ordered = await as('ann the worker', 'coding.create_task', {
    tool: 'CLAUDECODE',
    description: secret,
    instructions: secret,
    branch: `task/${fixture.mark}`,
    config: { project: `acme/${fixture.mark}` },
  });
  const coding = idIn(ordered['result'], 'taskId');
  await as('ann the leader', 'coding.update_task', { taskId: coding, log: secret });
  const subscription = `sub-${fixture.mark}`;
  await as('ann the worker', 'firebase.subscribe', {
    subscriptionId: subscription,
    database: 'realtime',
    path: `messages/${alpha}/talk`,
    eventType: 'child_added',
  });
  for (const database of ['realtime', 'firestore'] as const)
    for (const root of ['messages', 'shared'])
      await as('ann the worker', 'firebase.write', {
        database,
        path: `${root}/${alpha}/talk/one`,
        operation: 'set',
        data: { text: secret },
      });
  const due = '2099-02-11T17:00:00Z';
  const todo = idIn((await as('ann herself', 'todo.add_task', { title: secret, due_date: due }))['task']);
  const repeating = { title: `${secret} again`, frequency: 'DAILY', start_date: due };
  const started = await as('ann herself', 'todo.create_recurring_task', repeating);
  const recurring = idIn(started['recurring_task']);
  const workflow = `flow-${fixture.mark}`;
  await as('ann the worker', 'orchestration.save_workflow', {
    workflow: { name: workflow, description: secret, steps: [{ name: 'only', agent: 'claude', prompt: secret }] },
  });
  const question = { question: secret, kind: 'text' };
  const request = idIn(await as('ann the worker', 'inbox.ask', question), 'request_id');
  const open = await fixture.app.services.coordination.session(alpha);
  return {
    workspace: alpha,
    place: alpha,
    owner: fixture.ann,
    agent: worker,
    terminal: idIn(terminal),
    task,
    held,
    done,
    coding,
    session: String(open?.id),
    branch: `task/${fixture.mark}`,
    project: `acme/${fixture.mark}`,
    run: await pendingRun(fixture),
    subscription,
    todo,
    recurring,
    workflow,
    request,
  };
}

/** Returns names of missing items that have the form of the names of the existing items. */
export function namesOfNothing(ids: Ids, fixture: TenancyFixture): Ids {
  const other = (id: string): string => id.replace(/[a-z0-9](?=[^a-z0-9]*$)/, (last) => (last === 'q' ? 'w' : 'q'));
  const named = Object.entries(ids).map(([name, id]) => [name, other(id)]);
  return { ...ids, ...Object.fromEntries(named), workspace: fixture.nowhere, place: fixture.empty };
}

function idIn(value: unknown, ...names: readonly string[]): string {
  assert.ok(typeof value === 'object' && value !== null, JSON.stringify(value));
  for (const name of [...names, 'id']) {
    const id: unknown = Reflect.get(value, name);
    if (typeof id === 'string') return id;
  }
  assert.fail(`there is no id in ${JSON.stringify(value)}`);
}

async function pendingRun(fixture: TenancyFixture): Promise<string> {
  const principal = await fixture.app.services.authenticator.authenticate(fixture.credential('ann the worker'));
  const { runs, roster } = fixture.app.services.orchestration;
  const request = {
    workflow: readWorkflow({ name: 'one', steps: [{ name: 'only', agent: 'claude' }] }, 'workflow'),
    input: fixture.secret,
    context: {},
    budget: { tokens: 1_000_000, cost_usd: 10 },
    parallel: true,
    cache: false,
    situation: await roster.situation(fixture.alpha),
  };
  return (await runs.start(principal, fixture.alpha, request, () => undefined)).runId;
}
