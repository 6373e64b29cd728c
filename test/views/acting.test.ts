/** Actions of a person in a view, the context that the model receives, and automatic refreshes. */
import assert from 'node:assert/strict';
import type { Frame } from 'playwright-core';
import { eventually } from '../e2e/support/waiting.ts';
import { REPORT, RUN, STATUS, TODOS } from '../support/sampleResponses.ts';
import { stateOf, useStage } from './support/fixture.ts';
import type { Message } from './support/frame.ts';
import type { StrictHost, ToolAnswer } from './support/strictHost.ts';
import { VERIFYING_REPORT, VERIFYING_STATUS } from './support/verifying.ts';
import { resultOf, type ViewName } from './support/views.ts';

/** A server that responds to each tool with the response that was last set for the tool. */
class Answers {
  private readonly given = new Map<string, ToolAnswer>();

  set(tool: string, answer: Message, isError = false): void {
    this.given.set(tool, { result: { ...resultOf(answer), ...(isError && { isError }) } });
  }

  readonly call = async (name: string): Promise<ToolAnswer> => {
    const answer = this.given.get(name);
    return answer ?? { error: { code: -32602, message: `Unknown tool: ${name}` } };
  };
}

const RUNNING = { ...RUN, status: 'running', error: undefined, result: undefined };
const OPEN_REPORT = {
  ...REPORT,
  result: { ...REPORT.result, task: { ...REPORT.result.task, status: 'running', state: 'in_progress' } },
};

describe('a person in a view', () => {
  const fixture = useStage();
  const lastCall = (host: StrictHost, tool: string) =>
    eventually(`${tool} is called`, async () => host.calls.findLast(({ name }) => name === tool));

  it("completes a to-do, sees the new list, and thereby updates the model's context", async () => {
    const answers = new Answers();
    const done = { ...TODOS, tasks: TODOS.tasks.map((todo) => ({ ...todo, completed: true })) };
    answers.set('todo_complete_task', { success: true, message: 'Task completed! Next occurrence created' });
    answers.set('todo_list_tasks', done);
    const host = await fixture.show('todos', answers);
    await host.give({ limit: 2 }, resultOf(TODOS));
    const view = await host.frame.view();
    await view.getByRole('checkbox', { name: 'Done: Buy milk' }).click();
    await view.getByRole('checkbox', { name: 'Done: Buy milk', checked: true }).waitFor();
    await view.getByRole('status').filter({ hasText: 'Next occurrence created' }).waitFor();
    const { arguments: given } = await lastCall(host, 'todo_complete_task');
    assert.equal(given['task_id'], 'todo-1');
    assert.match(String(given['idempotency_key']), /^[a-z0-9-]{16,}$/);
    assert.deepEqual((await lastCall(host, 'todo_list_tasks')).arguments, { limit: 2 });
    assert.match(host.modelContext ?? '', /the person has: completed the to-do todo-1\./);
    assert.doesNotMatch(host.modelContext ?? '', /milk/, 'the context has no text that other people wrote');

    answers.set('todo_reopen_task', { success: true, message: 'Task reopened.' });
    answers.set('todo_list_tasks', TODOS);
    await view.getByRole('checkbox', { name: 'Done: Buy milk' }).click();
    await view.getByRole('checkbox', { name: 'Done: Buy milk', checked: false }).waitFor();
    assert.match(host.modelContext ?? '', /completed the to-do todo-1; reopened the to-do todo-1\./);
    await host.end();
  });

  it('sees the reason for a refused action, while the list stays unchanged', async () => {
    const answers = new Answers();
    const error = { code: 'FORBIDDEN', message: 'Your credential may only read.', details: {} };
    answers.set('todo_complete_task', { success: false, error }, true);
    const host = await fixture.show('todos', answers);
    await host.give({}, resultOf(TODOS));
    const view = await host.frame.view();
    await view.getByRole('checkbox', { name: 'Done: Buy milk' }).click();
    await view.getByRole('status').filter({ hasText: 'Your credential may only read.' }).waitFor();
    await view.getByRole('checkbox', { name: 'Done: Buy milk', checked: false }).waitFor();
    assert.equal(host.modelContext, undefined);
    await host.end();
  });

  it('can confirm the cancellation of a run with the keyboard only', async () => {
    const answers = new Answers();
    answers.set('orchestration_cancel_run', { success: true, message: 'The run is cancelled.' });
    answers.set('orchestration_get_run', { ...RUNNING, status: 'cancelled' });
    const host = await fixture.show('run', answers);
    await host.give({ runId: RUN.runId, waitMs: 45_000 }, resultOf(RUNNING));
    const view = await host.frame.view();
    const button = view.getByRole('button', { name: 'Cancel run' });
    const question = view.getByText('Cancel this run? It stops within seconds.');
    const focused = () => view.evaluate('document.activeElement.textContent');
    await button.focus();
    for (const way of ['Escape', 'Keep run']) {
      await button.press('Enter');
      await question.waitFor();
      assert.equal(await focused(), 'Cancel run');
      if (way === 'Escape') await button.press(way);
      else await view.getByRole('button', { name: way }).press('Enter');
      await question.waitFor({ state: 'detached' });
      assert.equal(await focused(), 'Cancel run', `after ${way}`);
    }
    assert.deepEqual(host.calls, []);
    await button.press('Enter');
    await button.press('Enter');
    await stateOf(view).filter({ hasText: 'Cancelled' }).waitFor();
    assert.equal((await lastCall(host, 'orchestration_cancel_run')).arguments['runId'], RUN.runId);
    assert.deepEqual((await lastCall(host, 'orchestration_get_run')).arguments, { runId: RUN.runId });
    assert.equal(await button.count(), 0);
    assert.match(host.modelContext ?? '', /cancelled the run run-abcdefghijklmnopqrst/);
    await host.end();
  });

  it('can stop a coding task, and can retry a failed task that blocks others', async () => {
    const answers = new Answers();
    answers.set('coding_end_task', { status: 'success', message: 'Task ended.' });
    answers.set('coding_report_task', REPORT);
    const coding = await fixture.show('coding', answers);
    await coding.give({ taskId: 'task-1' }, resultOf(OPEN_REPORT));
    const view = await coding.frame.view();
    await view.getByRole('button', { name: 'Stop task' }).click();
    await view.getByText('Stop this task?').waitFor();
    await view.getByRole('button', { name: 'Stop task' }).click();
    await stateOf(view).filter({ hasText: 'Failed' }).waitFor();
    const ended = (await lastCall(coding, 'coding_end_task')).arguments;
    assert.deepEqual(
      [ended['taskId'], ended['status'], ended['failure']],
      ['task-1', 'failed', { class: 'cancelled', message: 'Stopped by a person in a chat.' }],
    );
    await coding.end();

    answers.set('coordination_retry_task', { success: true });
    answers.set('coordination_get_status', { ...STATUS, stuck: undefined });
    const goal = await fixture.show('goal', answers);
    await goal.give({}, resultOf(STATUS));
    const goalView = await goal.frame.view();
    await goalView.getByRole('button', { name: 'Retry task-8' }).click();
    await goalView.getByRole('heading', { name: 'Can’t start' }).waitFor({ state: 'detached' });
    const { task_id, with_dependents } = (await lastCall(goal, 'coordination_retry_task')).arguments;
    assert.deepEqual([task_id, with_dependents], ['task-8', true]);
    await goal.end();
  });

  it('sends a result that is being verified back, only with words, and then sees the next state', async () => {
    const answers = new Answers();
    answers.set('coordination_retry_task', { success: true });
    answers.set('coding_report_task', OPEN_REPORT);
    const host = await fixture.show('coding', answers);
    await host.give({ taskId: 'task-1' }, resultOf(VERIFYING_REPORT));
    const view = await host.frame.view();
    await stateOf(view).filter({ hasText: 'Verifying' }).waitFor();
    await view.getByText(/^Waits for another agent to review it \(any\), at most until .*2026/).waitFor();
    await view.getByText('Round 2 of 3').waitFor();
    await view.getByRole('list', { name: 'Sent back in round 1' }).getByText('The logout is missing.').waitFor();
    assert.equal(await view.getByRole('button', { name: 'Stop task' }).count(), 0, 'a view has one action');
    const button = view.getByRole('button', { name: 'Send it back' });
    await button.click();
    const words = view.getByRole('textbox', { name: 'What must change' });
    await button.click();
    await words.and(view.locator(':focus')).waitFor();
    assert.deepEqual(host.calls, []);
    await words.fill(' Add the logout. ');
    await button.click();
    await stateOf(view).filter({ hasText: 'In progress' }).waitFor();
    const { task_id, comments } = (await lastCall(host, 'coordination_retry_task')).arguments;
    assert.deepEqual([task_id, comments], ['task-1', 'Add the logout.']);
    assert.match(host.modelContext ?? '', /sent the coding task task-1 back\./);
    assert.doesNotMatch(host.modelContext ?? '', /logout/, 'the context has no text that other people wrote');
    await host.end();
  });

  it('sends no result back if the connection has only the tools of the toolset coding', async () => {
    const tool = { name: 'report_task', inputSchema: { type: 'object' } };
    const host = await fixture.show('coding', { ...new Answers(), context: { toolInfo: { id: 1, tool } } });
    await host.give({ taskId: 'task-1' }, resultOf(VERIFYING_REPORT));
    const view = await host.frame.view();
    await stateOf(view).filter({ hasText: 'Verifying' }).waitFor();
    assert.equal(await view.getByRole('button', { name: 'Send it back' }).count(), 0);
    await host.end();
  });

  it('sees how many results of the goal are being verified, and what the first one waits for', async () => {
    const host = await fixture.show('goal');
    await host.give({}, resultOf(VERIFYING_STATUS));
    const view = await host.frame.view();
    const list = view.getByRole('list', { name: '3 are being verified' });
    await list.getByText(/^Waits for another agent/).waitFor();
    assert.equal(await list.getByRole('listitem').count(), 1);
    await view.getByText('and 2 more').first().waitFor();
    await view.getByText('3 verifying', { exact: true }).waitFor();
    await host.end();
  });

  it('calls tools by the names under which the host offers them', async () => {
    const answers = new Answers();
    answers.set('complete_task', { success: true });
    answers.set('list_tasks', TODOS);
    const tool = { name: 'list_tasks', inputSchema: { type: 'object' } };
    const host = await fixture.show('todos', { ...answers, context: { toolInfo: { id: 1, tool } } });
    await host.give({}, resultOf(TODOS));
    await (await host.frame.view()).getByRole('checkbox', { name: 'Done: Buy milk' }).click();
    await lastCall(host, 'complete_task');
    await lastCall(host, 'list_tasks');
    await host.end();
  });
});

/** Observers are called in the order in which they were created, so this observer is called after the view's own. */
const WATCH_SIGHT = `new IntersectionObserver(([entry]) => {
  window.isInSight = entry.isIntersecting;
}).observe(document.documentElement)`;

/** Waits until the view knows whether it is in sight. Only then does it plan refreshes, or stop them. */
async function knowsSight(view: Frame, isInSight: boolean): Promise<void> {
  await view.evaluate(WATCH_SIGHT);
  await eventually(`the view is ${isInSight ? 'in' : 'out of'} sight`, async () =>
    (await view.evaluate(`window.isInSight === ${isInSight}`)) ? true : undefined,
  );
}

describe('automatic refreshes of a view', () => {
  const fixture = useStage();
  const open: readonly (readonly [ViewName, string, Message, Message])[] = [
    ['goal', 'coordination_get_status', STATUS, { ...STATUS, tasks: { done: 15 } }],
    ['run', 'orchestration_get_run', RUNNING, { ...RUNNING, status: 'succeeded' }],
    ['coding', 'coding_report_task', OPEN_REPORT, REPORT],
    ['todos', 'todo_list_tasks', TODOS, { tasks: [{ id: 'todo-1', title: 'Buy milk', completed: true }], total: 1 }],
  ];

  for (const [name, tool, before, after] of open)
    it(`are requested every five seconds until the item has ended (${name})`, async () => {
      const answers = new Answers();
      answers.set(tool, before);
      const host = await fixture.show(name, { call: answers.call, hasClock: true });
      await host.give({ taskId: 'task-1' }, resultOf(before));
      const view = await host.frame.view();
      await view.getByText('Live', { exact: true }).waitFor();
      await knowsSight(view, true);
      const { clock } = host.frame.page;
      const passes = async (calls: number) => {
        await clock.runFor(5000);
        await eventually(`${calls} calls of the tool`, async () => host.calls.length >= calls || undefined);
        await host.settled();
      };
      await clock.runFor(4000);
      assert.equal(host.calls.length, 0);
      await passes(1);
      await passes(2);
      answers.set(tool, after);
      await passes(3);
      await view.getByText('Live', { exact: true }).waitFor({ state: 'detached' });
      await view.getByText(/^Updated \d/).waitFor();
      await clock.runFor(60_000);
      assert.equal(host.calls.length, 3);
      assert.ok(host.calls.every((call) => call.name === tool));

      answers.set(tool, before);
      await view.getByRole('button', { name: 'Refresh' }).click();
      await view.getByText('Live', { exact: true }).waitFor();
      await host.end();
    });

  it('stop while the view is out of sight, and after the view has ended', async () => {
    const answers = new Answers();
    answers.set('orchestration_get_run', RUNNING);
    const host = await fixture.show('run', { call: answers.call, hasClock: true });
    await host.give({}, resultOf(RUNNING));
    const view = await host.frame.view();
    await view.getByText('Live', { exact: true }).waitFor();
    const { page } = host.frame;
    await page.evaluate("document.querySelector('main').style.marginTop = '3000px'");
    await knowsSight(view, false);
    await page.clock.runFor(60_000);
    assert.equal(host.calls.length, 0);
    await page.evaluate("document.querySelector('main').style.marginTop = ''");
    await eventually('the view calls the tool again', async () => {
      await page.clock.runFor(5000);
      return host.calls.length > 0 || undefined;
    });
    await host.request('ui/resource-teardown');
    const { length } = host.calls;
    await page.clock.runFor(60_000);
    assert.equal(host.calls.length, length);
    await host.end();
  });

  it('stop after three consecutive failed calls', async () => {
    const call = async (): Promise<ToolAnswer> => ({ error: { code: -32000, message: 'The server is away.' } });
    const host = await fixture.show('run', { call, hasClock: true });
    await host.give({}, resultOf(RUNNING));
    const view = await host.frame.view();
    await view.getByText('Live', { exact: true }).waitFor();
    await knowsSight(view, true);
    for (const count of [1, 2, 3]) {
      await host.frame.page.clock.runFor(5000);
      await eventually(`failure ${count}`, async () => host.calls.length === count || undefined);
      await host.settled();
      await view.getByRole('status').filter({ hasText: 'The server is away.' }).waitFor();
    }
    await view.getByRole('button', { name: 'Refresh' }).waitFor();
    await host.frame.page.clock.runFor(60_000);
    assert.equal(host.calls.length, 3);
    await host.end();
  });
});
