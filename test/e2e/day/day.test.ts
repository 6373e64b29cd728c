/**
 * A day of work of a person and her agents. It uses the features of several guides in one sequence of calls.
 * Source: docs/guides/graph.md, inbox.md, budgets.md, undo.md and coordination.md.
 */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { z } from 'zod';
import { exactUsd } from '../../../functions/src/graph/rules/graphNode.ts';
import { RunnerFixture } from '../runner/fixture.ts';
import { claudeEnvironment, claudeSteps, installClaude } from '../runner/programs.ts';
import { succeed } from '../support/calls.ts';
import { isRecord } from '../support/clients.ts';
import { type ScriptedModel, startScriptedModel } from '../support/scriptedModel.ts';
import { eventually } from '../support/waiting.ts';
import { assemble, type Cast, claims, completes, made, merged, plans, proposes } from './cast.ts';

const AT = { owner: 'sartor-ai', repo: 'claude-network' };

const numbers = z.object({
  counts: z.record(z.string(), z.number()),
  attempts: z.number(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  costUsd: z.number(),
});
const tree = z.object({
  node: z.object({ status: z.string(), totals: numbers }),
  parts: z.array(z.object({ kind: z.string(), id: z.string(), status: z.string(), totals: numbers })),
});
const requests = z.object({
  requests: z.array(z.object({ request_id: z.string(), question: z.string(), options: z.array(z.string()) })),
});
const events = z.object({
  events: z.array(z.object({ at: z.string(), by: z.string(), on_behalf_of: z.string(), tool: z.string() })),
});

const tokenCounts = z.object({ input: z.number(), output: z.number(), cacheRead: z.number(), cacheWrite: z.number() });
const worked = z.object({ tokens: tokenCounts, costUsd: z.number() });

/** Returns the number of all input tokens, including tokens read from a cache or written to it. */
const allInput = ({ input, cacheRead, cacheWrite }: z.output<typeof tokenCounts>): number =>
  input + cacheRead + cacheWrite;
const journal = z.object({ usage: numbers.pick({ inputTokens: true, outputTokens: true, costUsd: true }) });
const thing = z.object({ kind: z.string(), id: z.string() });
const undoing = z.object({
  undone: z.array(thing),
  refused: z.array(thing.extend({ why: z.string(), changed_by: z.string().optional() })),
});

/** Calls with which a runner shows that it is running. Their number depends on how long the work takes. */
const SIGNS_OF_LIFE: readonly string[] = ['coding.heartbeat_task', 'coding.append_logs'];

/** The expected audit log of the day, without SIGNS_OF_LIFE. */
const DAY = [
  'ada todo.add_task',
  'ada todo.delegate',
  'lead coordination.claim_task',
  'lead coordination.create_tasks_batch',
  'lead coding.create_task',
  'lead coordination.complete_task',
  'ann coordination.claim_task',
  'bob coordination.claim_task',
  'ann coordination.complete_task',
  'ann coordination.claim_task',
  'ann coordination.complete_task',
  'runner coding.register_runner',
  'runner coding.claim_task',
  'runner coding.end_task',
  'ann coordination.claim_task',
  'lead coordination.cancel_task',
  'ann coordination.claim_task',
  'ann coordination.fail_task',
  'lead coordination.retry_task',
  'ann coordination.claim_task',
  'ann coordination.complete_task',
  'ada system.setBudget',
  'lead orchestration.orchestrate',
  'ada system.setBudget',
  'bob github.createBranch',
  'bob github.commitFiles',
  'ada inbox.answer',
  'bob github.createPR',
];

describe('Muster during a day of work', function () {
  this.timeout('2m');
  // Each test continues the work of the previous test.
  this.bail(true);
  let cast: Cast;
  let fixture: RunnerFixture;
  let model: ScriptedModel;
  let todo: string;
  let goal: string;
  /** Ids of the planned tasks, in the order of the plan. */
  let [research, guide, pullRequest, dead, flaky, code]: string[] = [];

  before(async () => {
    cast = await assemble();
    fixture = await RunnerFixture.at(cast.url, cast.runner, cast.lead);
    model = await startScriptedModel(claudeSteps(() => `${worktrees()}/${readdirSync(worktrees())[0]}`));
  });
  after(async () => {
    await model?.close();
    await fixture?.close();
    await cast?.leave();
  });

  const worktrees = () => `${fixture.folder}/worktrees`;
  const treeOf = async (kind: string, id: string) =>
    tree.parse(await succeed(cast.ada, 'system_getTree', { kind, id }));
  /** Waits for Ada's only open question and returns it. */
  const asked = () =>
    eventually('Ada is asked', async () => {
      const { requests: open } = requests.parse(await succeed(cast.ada, 'inbox_list', { state: 'open' }));
      return open[0];
    });

  it('lets Ada delegate a to-do to her agents, and the leader claims the task', async () => {
    const { ada, lead } = cast;
    todo = await made(ada, 'todo_add_task', { title: `Ship the login ${cast.workspace}` });
    const { delegated } = await succeed(ada, 'todo_delegate', { task_id: todo });
    goal = z.object({ task_id: z.string() }).parse(delegated).task_id;
    await claims(lead, goal);
  });

  it('lets the leader create six tasks as parts of the delegated task', async () => {
    const { ids, draft } = await plans(cast.lead, cast.workspace, goal);
    const { taskId } = await fixture.createTask(draft);
    [research, guide, pullRequest, dead, flaky, code] = [...ids, taskId];
    await completes(cast.lead, goal, { when_parts_done: true });
    assert.equal((await treeOf('todo', todo)).parts.length, 7);
  });

  it('lets two workers claim and complete tasks in the order of their dependencies', async () => {
    const { ann, bob } = cast;
    await claims(ann, String(research));
    await claims(bob, String(pullRequest));
    await completes(ann, String(research));
    await claims(ann, String(guide));
    await completes(ann, String(guide));
  });

  it('lets a runner complete a coding task with Claude Code, and counts its tokens and cost', async () => {
    installClaude(fixture.bin);
    const env = claudeEnvironment(fixture.folder, model.url);
    const runner = fixture.startRunner(['--once', '--worktrees', worktrees()], { env });
    assert.equal(await runner.ended, 0, runner.output());
    const { task, result = {} } = await fixture.report(String(code));
    assert.equal(task.state, 'done');
    const { totals } = (await treeOf('task', String(code))).node;
    const { tokens } = z.object({ tokens: tokenCounts }).parse(result);
    assert.deepEqual([totals.inputTokens, totals.outputTokens], [allInput(tokens), tokens.output]);
    assert.equal(totals.costUsd, exactUsd(Number(result['costUsd'])), 'the key is paid by use');
  });

  it('lets the leader cancel one task and retry another', async () => {
    const { ann, lead } = cast;
    await claims(ann, String(dead));
    await succeed(lead.client, 'coordination_cancel_task', { task_id: dead, reason: 'They are gone' });
    await claims(ann, String(flaky));
    const failure = { agent_id: ann.id, task_id: flaky, error: 'The browser crashed' };
    await succeed(ann.client, 'coordination_fail_task', failure);
    await succeed(lead.client, 'coordination_retry_task', { task_id: flaky });
    await claims(ann, String(flaky));
    await completes(ann, String(flaky));
  });

  it('pauses a run when its budget is exhausted, and resumes the run when Ada raises the budget', async () => {
    const { ada, lead } = cast;
    await succeed(ada, 'system_setBudget', { kind: 'todo', id: todo, tokens: 10 });
    const { runId } = await succeed(lead.client, 'orchestration_orchestrate', {
      prompt: `Say in a word how it went ${cast.workspace}`,
      preferences: { agent: 'claude' },
      options: { timeout: 0 },
      part_of: { kind: 'task', id: goal },
    });
    const status = async () => (await succeed(lead.client, 'orchestration_get_run', { runId }))['status'];
    const { question } = await asked();
    assert.match(question, /budget/i);
    assert.ok(!['succeeded', 'failed'].includes(String(await status())));
    await succeed(ada, 'system_setBudget', { kind: 'todo', id: todo, tokens: 1_000_000 });
    await eventually('the run succeeds', async () => (await status()) === 'succeeded' || undefined, 60_000);
    await eventually('no question is open', async () => {
      const { requests: open } = requests.parse(await succeed(ada, 'inbox_list', { state: 'open' }));
      return open.length === 0 || undefined;
    });
  });

  it("opens a pull request after Ada's approval, and completes the to-do after the merge", async () => {
    const { ada, bob } = cast;
    const propose = await proposes(bob, cast.workspace, pullRequest);
    const first = await propose();
    assert.equal(first.isError, true, first.text);
    const { request_id, question } = await asked();
    assert.match(question, /github\.createPR/);
    await succeed(ada, 'inbox_answer', { request_id, answer: 'approve' });
    const { number } = await eventually('the pull request is opened', async () => {
      const { isError, structured } = await propose();
      return isError ? undefined : structured;
    });
    await merged(number);
    await eventually('the to-do is done', async () => {
      const { node } = await treeOf('todo', todo);
      return node.status === 'done' || undefined;
    });
    const { tasks } = await succeed(ada, 'todo_search_tasks', { query: cast.workspace });
    assert.ok(Array.isArray(tasks) && isRecord(tasks[0]) && tasks[0]['completed'] === true);
  });

  it('counts the usage of every part of the to-do exactly once', async () => {
    const { node, parts } = await treeOf('todo', todo);
    const statuses = [node, ...parts].map(({ status }) => status);
    const counts: Record<string, number> = {};
    for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1;
    assert.deepEqual(node.totals.counts, counts);
    assert.deepEqual(counts, { done: 9, cancelled: 1 });
    assert.equal(node.totals.attempts, 9, 'eight claims and one request to a model');

    const run = parts.find(({ kind }) => kind === 'run');
    assert.ok(run);
    const { usage } = journal.parse(await succeed(cast.lead.client, 'orchestration_get_run', { runId: run.id }));
    const { result } = await fixture.report(String(code));
    const { tokens, costUsd } = worked.parse(result);
    const { inputTokens, outputTokens } = node.totals;
    assert.equal(inputTokens, allInput(tokens) + usage.inputTokens);
    assert.equal(outputTokens, tokens.output + usage.outputTokens);
    assert.ok(Math.abs(node.totals.costUsd - costUsd - usage.costUsd) < 1e-9);
  });

  it('records each change in the audit log, with the agent, its owner and the tool', async () => {
    const reported = await trail();
    assert.deepEqual(
      reported.filter(({ tool }) => !SIGNS_OF_LIFE.includes(tool)).map(({ by, tool }) => `${nameOf(by)} ${tool}`),
      DAY,
    );
    assert.ok(reported.every(({ on_behalf_of }) => on_behalf_of === cast.adaUid));
  });

  it("undoes an agent's changes, except outside Muster and in items that others changed later", async () => {
    const { ada, ann, lead } = cast;
    const { id } = ann;
    const kept = await made(ada, 'todo_add_task', { title: `Call mother ${cast.workspace}` });
    const asked = await made(lead.client, 'coordination_create_task', { description: 'Read the log' });
    const other = await made(lead.client, 'coordination_create_task', { description: 'Read it again' });
    const before = await trail();
    const since = String(before.at(-1)?.at);

    await claims(ann, asked);
    await succeed(ann.client, 'coordination_start_task', { agent_id: id, task_id: asked });
    await completes(ann, asked);
    await claims(ann, other);
    await succeed(ann.client, 'todo_complete_task', { task_id: kept });
    const wrong = await made(ann.client, 'todo_add_task', { title: `A mistake ${cast.workspace}` });
    const renamed = await made(ann.client, 'todo_add_task', { title: `Another ${cast.workspace}` });
    await succeed(ada, 'todo_update_task', { task_id: renamed, title: `Not a mistake ${cast.workspace}` });
    await succeed(ann.client, 'github_createIssue', { ...AT, title: `A mistake ${cast.workspace}` });

    const { undone, refused } = undoing.parse(await succeed(ada, 'system_undo', { agent_id: id, since }));
    assert.deepEqual(
      refused.map(({ kind, changed_by }) => [kind, changed_by]),
      [
        ['external', undefined],
        ['todo', cast.adaUid],
      ],
    );
    const { tasks } = z
      .object({ tasks: z.array(z.object({ id: z.string(), completed: z.boolean() })) })
      .parse(await succeed(ada, 'todo_search_tasks', { query: cast.workspace }));
    const state = new Map(tasks.map((one) => [one.id, one.completed]));
    assert.deepEqual([state.get(kept), state.has(wrong), state.get(renamed)], [false, false, false]);
    const open = z
      .object({ tasks: z.array(z.object({ id: z.string(), status: z.string() })) })
      .parse(await succeed(ada, 'coordination_get_all_tasks', { status_filter: 'available' }));
    assert.deepEqual(open.tasks.map((one) => one.id).sort(), [asked, other].sort());
    assert.deepEqual(undone.map((one) => one.id).sort(), [kept, wrong, asked, other].sort());
    const again = undoing.parse(await succeed(ada, 'system_undo', { agent_id: id, since }));
    assert.deepEqual(again.undone, []);
  });

  /** Returns Ada's audit entries since the first to-do of the day, oldest first. */
  async function trail() {
    const { events: reported } = events.parse(await succeed(cast.ada, 'system_getAudit', { limit: 100 }));
    const all = reported.reverse();
    return all.slice(all.findIndex(({ tool }) => tool === 'todo.add_task'));
  }

  function nameOf(by: string): string {
    const { ada: _client, adaUid, lead, ann, bob, runner } = cast;
    const names = { [adaUid]: 'ada', [lead.id]: 'lead', [ann.id]: 'ann', [bob.id]: 'bob', [runner.id]: 'runner' };
    return names[by] ?? by;
  }
});
