/** Messages between a view and a host. The host accepts only valid messages. */
import assert from 'node:assert/strict';
import { eventually } from '../e2e/support/waiting.ts';
import { REPORT, RUN, STATUS, TODOS } from '../support/sampleResponses.ts';
import { heading, useStage } from './support/fixture.ts';
import type { Message } from './support/frame.ts';
import type { ToolAnswer } from './support/strictHost.ts';
import { resultOf, VIEWS, type ViewName } from './support/views.ts';

const ANSWERS: Readonly<Record<ViewName, Message>> = { goal: STATUS, todos: TODOS, run: RUN, coding: REPORT };

/** The heading that each view shows first. */
const HEADINGS: Readonly<Record<ViewName, string>> = {
  goal: 'Ship the login',
  todos: 'To-dos',
  run: 'review',
  coding: 'Fix the login',
};

describe('a view in its host', () => {
  const { show } = useStage();

  for (const name of VIEWS)
    it(`initializes, reports that it is ready, and then reports its size (${name})`, async () => {
      const host = await show(name);
      await eventually('the view reports its size', async () => host.size);
      assert.deepEqual(host.received.slice(0, 3), [
        'ui/initialize',
        'ui/notifications/initialized',
        'ui/notifications/size-changed',
      ]);
      await host.give({}, resultOf(ANSWERS[name]));
      const view = await host.frame.view();
      await view.getByRole('heading', { level: 1, name: HEADINGS[name], exact: true }).waitFor();
      assert.equal(host.received.filter((method) => method !== 'ui/notifications/size-changed').length, 2);
      assert.deepEqual(host.calls, []);
      await host.end();
    });

  it('requests the height of its content, and reports each height only once', async () => {
    const host = await show('todos');
    const one = resultOf({ tasks: [{ id: 'todo-1', title: 'One' }], total: 1 });
    await host.give({}, one);
    const view = await host.frame.view();
    await view.getByText('One', { exact: true }).waitFor();
    const before = await eventually('a small height', async () => (host.size?.height ?? 999) < 250 && host.size);
    const sizes = () => host.received.filter((method) => method === 'ui/notifications/size-changed').length;
    const reported = sizes();
    await host.notify('ui/notifications/tool-result', one);
    await host.notify('ui/notifications/tool-result', resultOf(manyTodos(12)));
    await view.getByText('Number 12', { exact: true }).waitFor();
    const after = await eventually('the view reports a larger height', async () =>
      (host.size?.height ?? 0) > (before ? before.height + 200 : 0) ? host.size : undefined,
    );
    // A layout can end between two pixels. The browser rounds the height, but the view requests the next whole pixel.
    const scrolled = Number(await view.evaluate('document.documentElement.scrollHeight'));
    assert.ok([scrolled, scrolled + 1].includes(after.height), `reported ${after.height}, not ${scrolled}`);
    assert.ok(sizes() - reported <= 3, `the view reported ${sizes() - reported} sizes for one change`);
    await host.end();
  });

  it('reports no size while its frame has no width', async () => {
    const host = await show('todos');
    const isAt = async (width: number) => {
      await host.frame.page.evaluate(`sandbox.style.width = '${width}px'`);
      const view = await host.frame.view();
      await eventually('a new layout', async () => (await view.evaluate('innerWidth')) === width || undefined);
      // The browser delivers observations of the layout before the second frame.
      await view.evaluate('new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)))');
    };
    await eventually('the view reports its size', async () => host.size);
    await isAt(0);
    assert.notEqual(host.size?.width, 0);
    await isAt(333);
    await eventually('the view reports its new size', async () => host.size?.width === 333 || undefined);
    await host.end();
  });

  it('applies the theme and the colors of its host, initially and after changes', async () => {
    const host = await show('goal', {
      context: { theme: 'dark', styles: { variables: { '--color-text-primary': 'rgb(250, 240, 230)' } } },
    });
    await host.give({}, resultOf(STATUS));
    const view = await host.frame.view();
    await heading(view).waitFor();
    const colors = async () => {
      const read = '(({ backgroundColor, color }) => [backgroundColor, color])(getComputedStyle(document.body))';
      return await view.evaluate<readonly string[]>(read);
    };
    const [dark, text] = await colors();
    assert.equal(text, 'rgb(250, 240, 230)');
    await host.notify('ui/notifications/host-context-changed', { theme: 'light' });
    const light = await eventually('the background has changed', async () => {
      const [back] = await colors();
      return back === dark ? undefined : back;
    });
    assert.equal(light, 'rgb(255, 255, 255)');
    assert.equal((await colors())[1], text, 'the text color stays');
    const variables = { '--color-background-primary': 'light-dark(rgb(1, 2, 3), rgb(4, 5, 6))' };
    await host.notify('ui/notifications/host-context-changed', { styles: { variables } });
    await eventually('the new background', async () => (await colors())[0] === 'rgb(1, 2, 3)' || undefined);
    await host.end();
  });

  it('responds to requests that the protocol allows, and rejects other requests', async () => {
    const host = await show('run');
    assert.deepEqual((await host.request('ping')).result, {});
    assert.equal((await host.request('tools/list')).error?.code, -32601);
    assert.deepEqual(host.calls, []);
    await host.end();
  });

  it('ignores messages that are not from its host', async () => {
    const host = await show('goal');
    await host.give({}, resultOf(STATUS));
    const view = await host.frame.view();
    await heading(view).waitFor();
    const forged = { jsonrpc: '2.0', method: 'ui/notifications/tool-result', params: resultOf({ goal: 'Obey' }) };
    await view.evaluate(`postMessage(${JSON.stringify(forged)}, '*')`);
    await host.notify('ui/notifications/tool-result', resultOf({ ...STATUS, goal: 'The next goal' }));
    await heading(view).filter({ hasText: 'The next goal' }).waitFor();
    assert.equal(await view.getByText('Obey').count(), 0);
    await host.end();
  });

  it('shows the error of a failed call, and shows that a call was cancelled', async () => {
    const host = await show('run');
    const problem = { success: false, error: { code: -32004, message: 'There is no run of that id.' } };
    await host.give({}, { isError: true, content: [{ type: 'text', text: JSON.stringify(problem) }] });
    const view = await host.frame.view();
    await view.getByRole('status').filter({ hasText: 'There is no run of that id.' }).waitFor();
    await host.notify('ui/notifications/tool-cancelled', { reason: 'user' });
    await view.getByRole('status').filter({ hasText: 'cancelled' }).waitFor();
    await host.end();
  });

  it('shows the text of a result if the host forwards no structured content', async () => {
    const host = await show('goal');
    await host.give({}, { content: [{ type: 'text', text: 'Goal: Ship it' }] });
    await (await host.frame.view()).getByText('Goal: Ship it').waitFor();
    await host.end();
  });

  for (const name of VIEWS)
    it(`offers no actions if the host does not allow views to call tools (${name})`, async () => {
      const host = await show(name);
      await host.give({}, resultOf(ANSWERS[name]));
      const view = await host.frame.view();
      await heading(view).waitFor();
      assert.equal(await view.locator('button, input').count(), 0);
      assert.deepEqual(host.calls, []);
      await host.end();
    });

  it('stops calling tools, and offers no actions, after the host has refused a call', async () => {
    const refuse = async (): Promise<ToolAnswer> => ({ error: { code: -32601, message: 'Method not found' } });
    const host = await show('todos', { call: refuse });
    await host.give({}, resultOf(TODOS));
    const view = await host.frame.view();
    await view.getByRole('checkbox', { name: 'Done: Buy milk' }).click();
    await view.getByRole('status').filter({ hasText: 'doesn’t allow views to call' }).waitFor();
    assert.equal(await view.locator('button, input').count(), 0);
    assert.equal(host.calls.length, 1);
    assert.equal(host.modelContext, undefined);
    await host.end();
  });

  it('asks the host to open https links, and shows other links as text', async () => {
    const host = await show('coding');
    const withLink = (url: string) => {
      const { result } = REPORT;
      return resultOf({ ...REPORT, result: { ...result, result: { pullRequest: { number: 7, url } } } });
    };
    await host.give({}, withLink('https://github.com/muster/app/pull/7'));
    const view = await host.frame.view();
    await view.getByRole('button', { name: 'Pull request 7 (github.com)' }).click();
    await eventually('the host opens the link', async () => host.links.length > 0 || undefined);
    assert.deepEqual(host.links, ['https://github.com/muster/app/pull/7']);
    for (const url of ['javascript:alert(1)', 'http://evil.example/', 'data:text/html,x', 'not an address']) {
      await host.notify('ui/notifications/tool-result', withLink(url));
      await view.getByText('Pull request 7', { exact: true }).waitFor();
      assert.equal(await view.getByRole('button').count(), 0, url);
    }
    await host.end();
  });
});

function manyTodos(count: number): Message {
  const tasks = Array.from({ length: count }, (_, index) => ({ id: `todo-${index}`, title: `Number ${index + 1}` }));
  return { tasks, total: count };
}
