/** The graph, tested with the emulators: parents, parts, totals, and the effects of completing a part. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { NodeRef, StoredNode } from '../../../functions/src/graph/rules/graphNode.ts';
import { usageOf, workOf } from '../../../functions/src/toolsets/orchestration/rules/steps/step.ts';
import { countReads } from '../../support/countedReads.ts';
import { agentOf } from '../../support/principals.ts';
import { GraphFixture } from './fixture.ts';

const AT = { owner: 'sartor-ai', repo: 'claude-network' };

const id = (of: unknown): string => {
  assert.ok(typeof of === 'object' && of !== null && 'id' in of, JSON.stringify(of));
  return String(of.id);
};

describe('the graph of parts', () => {
  let team: GraphFixture;

  beforeEach(async () => {
    team = await GraphFixture.open();
  });

  afterEach(() => team.close());

  async function todo(title = `Say hello ${randomUUID()}`, more = {}): Promise<string> {
    return id((await team.ask('todo_add_task', { title, ...more }))['task']);
  }

  async function task(part_of?: NodeRef, more = {}): Promise<string> {
    const args = { description: 'Some work', ...(part_of && { part_of: { ...part_of } }), ...more };
    return id((await team.ask('coordination_create_task', args))['task']);
  }

  async function nodeOf(ref: NodeRef): Promise<StoredNode> {
    const node = await team.node(ref);
    assert.ok(node, `${ref.kind} ${ref.id} has no node`);
    return node;
  }

  it('completes a to-do with all totals when a pull request four levels below it is merged', async () => {
    const ann = await team.join('ann');
    await team.join('runner', ['claude'], 'workspace');
    const [asAnn, asRunner] = [team.principal('ann'), team.principal('runner')];
    const todoId = await todo('Greet everybody', { due_date: new Date(team.now.getTime() + 9e8).toISOString() });

    const delegated = await team.ask('todo_delegate', { task_id: todoId, priority: 1 });
    const taskId = String((delegated['delegated'] as { task_id: string }).task_id);
    assert.equal(await team.claim(ann), taskId);
    team.pass(60);

    const question = { prompt: `plan ${randomUUID()}`, part_of: { kind: 'task', id: taskId } };
    const run = await team.ask('orchestration_orchestrate', { ...question, preferences: { agent: 'claude' } }, asAnn);
    const runId = String(run['runId']);
    assert.equal(run['status'], 'succeeded', JSON.stringify(run));

    const draft = { tool: 'CLAUDECODE', instructions: 'Be kind', part_of: { kind: 'run', id: runId } };
    const made = [];
    for (const description of ['Say hello', 'Say goodbye'])
      made.push(String((await team.ask('coding_create_task', { ...draft, description }, asAnn))['taskId']));

    const report = { agent_id: ann, task_id: taskId, output: 'It is planned.', when_parts_done: true };
    const reported = await team.ask('coordination_complete_task', report, asAnn);
    assert.match(String(reported['message']), /done when its parts are done/);
    assert.deepEqual(await team.ask('coordination_complete_task', report, asAnn), reported, 'repeated');
    const { status, claim } = (await team.app.coordination.ports.tasks.find(taskId))?.value ?? {};
    assert.deepEqual([status, claim], ['waiting', undefined]);
    await team.follow({ kind: 'todo', id: todoId });
    assert.equal((await nodeOf({ kind: 'task', id: taskId })).status, 'waiting');

    const work = { tokens: { input: 100, output: 10, cacheRead: 5 }, costUsd: 0.25, summary: 'Said.' };
    const branches: string[] = [];
    for (const one of made) {
      const claimed = (await team.ask('coding_claim_task', { taskId: one }, asRunner))['task'];
      assert.equal(id(claimed), one);
      branches.push(String((claimed as { branch: string }).branch));
      team.pass(10);
      const [epoch, ended] = [{ epoch: 1 }, { taskId: one, status: 'completed', result: work }];
      if (one === made[0]) await team.ask('coding_end_task', { ...ended, ...epoch }, asRunner);
    }
    await team.follow({ kind: 'todo', id: todoId });
    assert.equal((await nodeOf({ kind: 'todo', id: todoId })).status, 'open', 'one of the tasks is not done yet');

    team.repo.push('say/goodbye', { 'README.md': 'Goodbye\n' });
    const opened = { ...AT, title: 'Say goodbye', head: 'say/goodbye', base: 'main', task_id: made[1] ?? '' };
    const pull = await team.ask('github_createPR', opened, asRunner);
    const pullId = String(pull['id']);
    assert.equal((await nodeOf({ kind: 'pull_request', id: pullId })).status, 'in_progress');
    await team.merge(Number(pull['number']));
    await team.merge(Number(pull['number']));
    await team.follow({ kind: 'todo', id: todoId });

    const top = await nodeOf({ kind: 'todo', id: todoId });
    assert.deepEqual(top.totals.counts, { open: 0, in_progress: 0, waiting: 0, done: 6 });
    const listed = await team.ask('todo_list_tasks', { completed: true });
    const [shown] = listed['tasks'] as { id: string; delegated: object }[];
    assert.equal(shown?.id, todoId);
    assert.deepEqual(shown?.delegated, {
      task_id: taskId,
      workspace: team.workspace,
      status: 'done',
      done: 5,
      things: 5,
      attempts: top.totals.attempts,
      cost_usd: top.totals.cost_usd,
      result: 'It is planned.',
    });

    const journal = (await team.app.orchestration.ports.runs.calls(runId)).flatMap(
      ({ ending }) => ending?.attempt ?? [],
    );
    assert.ok(journal.length > 0);
    const [spent, worked] = [usageOf(journal), workOf(journal)];
    assert.equal(top.totals.input_tokens, spent.input_tokens + 105);
    assert.equal(top.totals.output_tokens, spent.output_tokens + 10);
    assert.ok(Math.abs(top.totals.cost_usd - spent.cost_usd - 0.25) < 1e-9);
    assert.equal(top.totals.attempts, worked.attempts + 3);
    assert.equal(top.totals.milliseconds, worked.milliseconds + 60_000 + 10_000 + 10_000);

    const tree = await team.ask('system_getTree', { kind: 'todo', id: todoId });
    const parts = tree['parts'] as { kind: string; depth: number; status: string }[];
    assert.deepEqual(parts.map(({ kind, depth }) => `${kind} ${depth}`).sort(), [
      'pull_request 4',
      'run 2',
      'task 1',
      'task 3',
      'task 3',
    ]);
    const below = await team.ask('system_getTree', { kind: 'pull_request', id: pullId });
    const kinds = (below['path'] as { kind: string }[]).map(({ kind }) => kind);
    assert.deepEqual(kinds, ['task', 'run', 'task', 'todo']);
  });

  it('keeps a task waiting if one of its parts has failed, and names this part', async () => {
    const ann = await team.join('ann');
    await team.allow(ann, 5);
    const whole = await task(undefined, { priority: 1 });
    assert.equal(await team.claim(ann), whole);
    const part = await task({ kind: 'task', id: whole }, { priority: 1 });
    assert.equal(await team.claimBeside(ann, [whole]), part);
    const report = { agent_id: ann, task_id: whole, output: 'Mine is done.', when_parts_done: true };
    await team.ask('coordination_complete_task', report, team.principal('ann'));
    await team.ask('coordination_fail_task', { agent_id: ann, task_id: part, error: 'No' }, team.principal('ann'));
    await team.follow({ kind: 'task', id: whole });
    const { tasks } = await team.ask('coordination_get_all_tasks', {});
    const shown = (tasks as { id: string; status: string; waits_for_parts?: { failed: string[] } }[]).find(
      (one) => one.id === whole,
    );
    assert.deepEqual([shown?.status, shown?.waits_for_parts?.failed], ['in_progress', [`task-${part}`]]);
    const node = await nodeOf({ kind: 'task', id: whole });
    assert.deepEqual([node.status, node.totals.counts['failed']], ['waiting', 1]);
  });

  it('completes a waiting task when its last open part is cancelled', async () => {
    const ann = await team.join('ann');
    const whole = await task(undefined, { priority: 1 });
    assert.equal(await team.claim(ann), whole);
    const part = await task({ kind: 'task', id: whole });
    const report = { agent_id: ann, task_id: whole, output: 'Mine is done.', when_parts_done: true };
    await team.ask('coordination_complete_task', report, team.principal('ann'));
    await team.ask('coordination_cancel_task', { task_id: part });
    await team.follow({ kind: 'task', id: whole });
    const node = await nodeOf({ kind: 'task', id: whole });
    assert.deepEqual([node.status, node.totals.counts['cancelled']], ['done', 1]);
  });

  it('completes a task without parts immediately', async () => {
    const ann = await team.join('ann');
    const only = await task(undefined, { priority: 1 });
    assert.equal(await team.claim(ann), only);
    const report = { agent_id: ann, task_id: only, output: 'All.', when_parts_done: true };
    await team.ask('coordination_complete_task', report, team.principal('ann'));
    assert.equal((await team.app.coordination.ports.tasks.find(only))?.value.status, 'done');
    assert.equal(await team.node({ kind: 'task', id: only }), undefined, 'the task has no node');
  });

  it('keeps a to-do open when its task fails, so that it can be delegated again', async () => {
    const ann = await team.join('ann');
    const todoId = await todo();
    const first = (await team.ask('todo_delegate', { task_id: todoId }))['delegated'] as { task_id: string };
    const again = await team.refused('todo_delegate', { task_id: todoId });
    assert.match(again, /ALREADY_DELEGATED/);
    assert.match(again, new RegExp(first.task_id));
    await team.claim(ann);
    const report = { agent_id: ann, task_id: first.task_id, error: 'Too hard' };
    await team.ask('coordination_fail_task', report, team.principal('ann'));
    await team.follow({ kind: 'todo', id: todoId });
    const { tasks } = await team.ask('todo_list_tasks', { completed: false });
    const shown = (tasks as { id: string; delegated: { status: string } }[]).find((one) => one.id === todoId);
    assert.equal(shown?.delegated.status, 'failed');
    const second = (await team.ask('todo_delegate', { task_id: todoId }))['delegated'] as { task_id: string };
    assert.notEqual(second.task_id, first.task_id);
    assert.deepEqual((await nodeOf({ kind: 'todo', id: todoId })).parts, 2);
  });

  it('hides parents and other nodes that the caller may not see', async () => {
    const stranger = agentOf(team.agentId('stranger'), `other-${team.workspace}`, 'leader');
    const todoId = await todo('Buy her a ring');
    const part_of = { kind: 'todo', id: todoId };
    const made = { description: 'Spy', part_of };
    assert.match(await team.refused('coordination_create_task', made, stranger), /todo .*not found/);
    assert.match(await team.refused('todo_delegate', { task_id: todoId }, stranger), /NOT_FOUND/);
    assert.match(await team.refused('system_getTree', { kind: 'todo', id: todoId }, stranger), /not found/);
    const { delegated } = await team.ask('todo_delegate', { task_id: todoId });
    const { task_id: taskId } = delegated as { task_id: string };
    const tree = await team.ask('system_getTree', { kind: 'task', id: taskId }, stranger);
    assert.deepEqual(tree['path'], [{ kind: 'todo', private: true }]);
    assert.deepEqual((tree['node'] as { partOf: object }).partOf, { kind: 'todo' });
    const other = await team.refused('coordination_create_task', {
      description: 'x',
      part_of: { kind: 'task', id: 'task-nowhere-1' },
    });
    assert.match(other, /task .*not found/);
  });

  it('keeps a stub of a deleted to-do, which still has the totals', async () => {
    const todoId = await todo('Forget it');
    const part = await task({ kind: 'todo', id: todoId });
    await team.ask('todo_delete_task', { task_id: todoId });
    const tree = await team.ask('system_getTree', { kind: 'todo', id: todoId });
    const node = tree['node'] as { deleted: boolean; title?: string; totals: { counts: object } };
    assert.deepEqual([node.deleted, node.title], [true, undefined]);
    assert.deepEqual(node.totals.counts, { open: 1, cancelled: 1 });
    assert.deepEqual((tree['parts'] as { id: string }[]).map(id), [part]);
    assert.match(
      await team.refused('coordination_create_task', { description: 'x', part_of: { kind: 'todo', id: todoId } }),
      /not found/,
    );
  });

  it('returns the nodes of a tree in pages', async () => {
    const whole = { kind: 'task', id: await task() } as const;
    const parts = [await task(whole), await task(whole), await task(whole)];
    const first = await team.ask('system_getTree', { ...whole, limit: 2 });
    const second = await team.ask('system_getTree', { ...whole, limit: 2, cursor: String(first['nextCursor']) });
    const shown = [first, second].flatMap((page) => (page['parts'] as { id: string }[]).map(id));
    assert.deepEqual([shown.toSorted(), second['truncated']], [parts.toSorted(), false]);
  });

  it('causes no extra reads for a task without a parent', async () => {
    const reads = countReads();
    try {
      await task();
      let alone = '';
      const plain = await reads.during(async () => {
        alone = await task();
      });
      const part_of = { kind: 'task', id: alone } as const;
      assert.equal(await reads.during(() => task(part_of)), plain + 1, 'a new part reads its parent');
      assert.equal(await reads.during(() => task(part_of)), plain + 2, 'a second part reads the parent and its node');
      assert.equal(await team.node({ kind: 'task', id: await task() }), undefined);
      const tree = await reads.during(() => team.ask('system_getTree', { ...part_of }));
      assert.equal(tree, 1 + 2 + 2, 'reads the node, its parts, and both possible budgets');
    } finally {
      reads.stop();
    }
  });

  it('allows trees of at most ten levels', async () => {
    let at = await task();
    for (let level = 2; level <= 10; level++) at = await task({ kind: 'task', id: at });
    const refusal = await team.refused('coordination_create_task', {
      description: 'Too deep',
      part_of: { kind: 'task', id: at },
    });
    assert.match(refusal, /at most 10 levels/);
  });
});
