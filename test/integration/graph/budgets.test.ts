/** Budgets, tested with the emulators: who can set one, which usage it counts, and how a change is undone. */
import assert from 'node:assert/strict';
import { randomInt, randomUUID } from 'node:crypto';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { budgetPath } from '../../../functions/src/kernel/firestore/paths.ts';
import { dayMetricsPath, realtimeDatabase } from '../../../functions/src/kernel/realtime/database.ts';
import { agentOf, personOf } from '../../support/principals.ts';
import { call } from '../coordination/calls.ts';
import { GraphFixture } from './fixture.ts';

const NONE = { money: 0, tokens: 0 };
const idOf = (of: unknown): string => String(Object(of).id);

describe('a budget', () => {
  let team: GraphFixture;

  beforeEach(async () => {
    team = await GraphFixture.open();
  });

  afterEach(() => team.close());

  async function task(more = {}): Promise<string> {
    return idOf((await team.ask('coordination_create_task', { description: 'Work', ...more }))['task']);
  }

  it('is shown at every item to which it applies, and can be removed', async () => {
    const top = await task();
    const part = await task({ part_of: { kind: 'task', id: top } });
    const of = { kind: 'task', id: top };
    const set = await team.ask('system_setBudget', { ...of, money: 5, tokens: 1000 });
    const limit = { money: 5, tokens: 1000 };
    assert.deepEqual(set, { ...of, limit, spent: NONE, reserved: NONE, left: limit });
    const there = { kind: 'workspace', id: team.workspace };
    await team.ask('system_setBudget', { ...there, money: 0.5 });
    const { budgets } = await team.ask('system_getTree', { kind: 'task', id: part });
    const kinds = (budgets as { kind: string }[]).map(({ kind }) => kind);
    assert.deepEqual(kinds, ['task', 'workspace']);
    const less = await team.ask('system_setBudget', { ...of, clear: ['money'] });
    assert.deepEqual(less['limit'], { tokens: 1000 }, 'an omitted limit stays');
    const none = await team.ask('system_setBudget', { ...of, clear: ['tokens'] });
    assert.deepEqual(none['limit'], {});
    const tree = await team.ask('system_getTree', of);
    assert.deepEqual((tree['budgets'] as object[]).length, 1);
    assert.match(await team.refused('system_setBudget', of), /Missing limit/);
  });

  it('of a workspace is shown to its members only, with the amount that was spent', async () => {
    await team.enrolOwner();
    const there = { kind: 'workspace', id: team.workspace };
    const [node, page] = [
      { ...there, workspace: team.workspace },
      { path: [], parts: [], truncated: false },
    ];
    assert.deepEqual(await team.ask('system_getTree', there), { node, budgets: [], ...page });
    await team.ask('system_setBudget', { ...there, money: 5 });
    await team.ask('orchestration_orchestrate', { prompt: randomUUID(), preferences: { agent: 'claude' } });
    const member = personOf(`ann-${randomUUID()}`, 'viewer', team.workspace);
    const { budgets, ...shown } = await team.ask('system_getTree', there, member);
    assert.deepEqual(shown, { node, ...page });
    const [{ spent, left }] = budgets as [{ spent: typeof NONE; left: { money: number } }];
    assert.ok(spent.money > 0 && spent.tokens > 0);
    assert.ok(Math.abs(spent.money + left.money - 5) < 1e-9);
    const elsewhere = team.at({ workspace: `other-${randomUUID()}` });
    const stranger = personOf(`eve-${randomUUID()}`, 'worker', elsewhere.workspace);
    const refusal = await call(elsewhere, 'system_getTree', there, stranger);
    assert.match(JSON.stringify(refusal), /You have no role in the workspace/);
  });

  it('also counts usage from before it was set', async () => {
    await team.enrolOwner();
    const asked = { prompt: randomUUID(), preferences: { agent: 'claude' } };
    const { runId, usage } = await team.ask('orchestration_orchestrate', asked);
    const { inputTokens, outputTokens, costUsd } = usage as Record<string, number>;
    const set = await team.ask('system_setBudget', { kind: 'run', id: String(runId), money: 1 });
    const { money, tokens } = set['spent'] as typeof NONE;
    assert.equal(tokens, Number(inputTokens) + Number(outputTokens));
    assert.ok(money > 0 && Math.abs(money - Number(costUsd)) < 1e-8);
  });

  it('can be set only by callers who may manage its workspace, task, to-do or run', async () => {
    const [of, there] = [
      { kind: 'task', id: await task() },
      { kind: 'workspace', id: team.workspace },
    ];
    const stranger = agentOf(`agent-${randomUUID()}`, `eve-${randomUUID()}`, 'worker');
    const todo = idOf((await team.ask('todo_add_task', { title: randomUUID() }))['task']);
    const asked = { prompt: randomUUID(), preferences: { agent: 'claude' } };
    const { runId } = await team.ask('orchestration_orchestrate', asked);
    const refusals = [
      [of, /NOT_YOURS|cannot change/],
      [there, /Only leaders/],
      [{ kind: 'workspace', id: `other-${randomUUID()}` }, /The call is for the workspace/],
      [{ kind: 'todo', id: todo }, /todo .*not found/],
      [{ kind: 'run', id: String(runId) }, /run .*not found/],
    ] as const;
    for (const [ref, why] of refusals)
      assert.match(await team.refused('system_setBudget', { ...ref, money: 1 }, stranger), why);
    for (const key of [`task-${of.id}`, `todo-${todo}`, `run-${runId}`])
      assert.equal((await firestore().doc(budgetPath(key)).get()).exists, false);
    await team.ask('system_setBudget', { kind: 'todo', id: todo, tokens: 10 });
  });

  it('is recorded in the audit log, and its last change can be undone', async () => {
    const of = { kind: 'task', id: await task() };
    const last = async () => {
      const { events } = await team.ask('system_getAudit', { thing: `budget:task-${of.id}`, limit: 1 });
      return String(Object((events as object[])[0]).event_id);
    };
    await team.ask('system_setBudget', { ...of, money: 5 });
    team.pass(1);
    await team.ask('system_setBudget', { ...of, money: 9, tokens: 7 });
    await team.ask('system_undo', { event_id: await last() });
    const limit = async () => Object(((await team.ask('system_getTree', of))['budgets'] as object[])[0]).limit;
    assert.deepEqual(await limit(), { money: 5 });
  });

  describe('when it is exhausted', () => {
    const draft = { tool: 'CLAUDECODE', description: 'Say hello', instructions: 'Kindly' };
    const coding = async (part: string) => {
      team.pass(1);
      const made = await team.ask('coding_create_task', { ...draft, part_of: { kind: 'task', id: part } });
      return String(made['taskId']);
    };
    const claim = async (args = {}) => (await team.ask('coding_claim_task', args, team.principal('runner')))['task'];
    const end = (taskId: string, result: object) =>
      team.ask(
        'coding_end_task',
        { taskId, epoch: 1, status: 'completed', result: { ...result } },
        team.principal('runner'),
      );
    const asked = async () => {
      const own = firestore().collection('requests').where('workspace', '==', team.workspace);
      return (await own.get()).docs.map((document) => document.data());
    };
    const follow = async (key: string) => {
      const written = (await firestore().doc(budgetPath(key)).get()).data();
      for (const _ of [1, 2]) await team.app.services.followBudget(written);
    };

    it('keeps runners from claiming the coding tasks below it until it is raised', async () => {
      await team.join('runner', ['claude'], 'workspace');
      const top = await task({ required_capabilities: ['nobody'] });
      const of = { kind: 'task', id: top };
      await team.ask('system_setBudget', { ...of, tokens: 0 });
      const [first, second, free] = [await coding(top), await coding(top), await coding(await task())];
      assert.equal(idOf(await claim()), free, 'a task outside the budget can be claimed');
      assert.equal(await claim(), null);
      assert.equal(await claim({ taskId: first }), null);
      const { tasks } = await team.ask('coordination_get_all_tasks', {});
      const reported = (tasks as { id: string; waits?: string }[]).filter(({ waits }) => waits !== undefined);
      assert.deepEqual(reported.map(({ id }) => id).sort(), [first, second].sort());
      assert.equal(reported[0]?.waits, `Waiting: the budget of task "${top}" is exhausted.`);
      const questions = await asked();
      const states = questions.map(({ state, asked_of }) => [state, asked_of]);
      assert.deepEqual(states, [['open', team.leader.owner_uid]]);
      assert.match(
        String(questions[0]?.['question']),
        /^The budget of task "[^"]+" is too small: 0 of 0 tokens are spent\. .*Raise the budget to 10 tokens\?$/,
      );

      await team.ask('system_setBudget', { ...of, tokens: 100 });
      await follow(`task-${top}`);
      assert.equal((await asked())[0]?.['state'], 'withdrawn');
      assert.equal(idOf(await claim()), first);
    });

    it('is checked again after ten minutes, even if no event reports that it was raised', async () => {
      await team.join('runner', ['claude'], 'workspace');
      const top = await task({ required_capabilities: ['nobody'] });
      await team.ask('system_setBudget', { kind: 'task', id: top, money: 0 });
      const below = await coding(top);
      assert.equal(await claim(), null);
      team.pass(11 * 60);
      assert.equal(await claim(), null, 'the budget is still exhausted');
      await team.ask('system_setBudget', { kind: 'task', id: top, money: 1 });
      team.pass(11 * 60);
      assert.equal(idOf(await claim()), below);
    });

    it('counts the tokens that a runner reports, and the cost if the runner pays per use', async () => {
      // A day of the far future, so that no other test adds to its cost.
      team.now = new Date(Date.UTC(2050, 0, 1) + randomInt(300_000) * 86_400_000);
      await team.join('runner', ['claude'], 'workspace');
      const top = await task({ required_capabilities: ['nobody'] });
      const of = { kind: 'task', id: top };
      await team.ask('system_setBudget', { ...of, tokens: 150, money: 1 });
      const [paid, subscribed, last] = [await coding(top), await coding(top), await coding(top)];
      assert.equal(idOf(await claim()), paid);
      const tokens = { input: 90, output: 5, cacheRead: 5 };
      await end(paid, { tokens, costUsd: 0.25 });
      const spent = async () => Object(((await team.ask('system_getTree', of))['budgets'] as object[])[0]).spent;
      assert.deepEqual(await spent(), { money: 0.25, tokens: 100 });
      assert.equal(idOf(await claim()), subscribed, 'the budget is not exhausted yet');
      await end(subscribed, { tokens });
      assert.deepEqual(await spent(), { money: 0.25, tokens: 200 });
      const { dollars } = (await (await realtimeDatabase()).ref(dayMetricsPath(team.now)).get()).val();
      assert.equal(dollars, 0.25, 'the cost also counts for the day');
      const { node } = await team.ask('system_getTree', of);
      assert.equal(Object(node).totals.costUsd, 0.25, 'budget and tree report equal costs');
      assert.equal(await claim({ taskId: last }), null);
    });
  });
});
