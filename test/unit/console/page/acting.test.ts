/** Actions of a person in the console: each screen calls its tool with the typed values and shows the outcome. */
import assert from 'node:assert/strict';
import { registerAgent } from '../../../../functions/src/toolsets/onboarding/tools/registerAgent.ts';
import { Backend, Refused } from './backend.ts';
import { Page } from './page.ts';

const DAY = 86_400_000;

describe('console screen', () => {
  let backend: Backend;

  beforeEach(() => {
    backend = new Backend();
    backend.put('people/ada', { role: 'admin' });
    backend.put('workspaces/default', { session: 'session-1' });
    backend.put('workspaces/default/sessions/session-1');
  });

  it('cancels only the chosen tasks, whether they are chosen by key or by mouse', async () => {
    for (const id of ['task-1', 'task-2', 'task-3']) backend.put(`tasks/${id}`, { description: id });
    const page = await Page.open(backend, '/tasks');
    (await page.get('link', 'task-1')).key('x');
    (await page.get('checkbox', 'Choose task-3')).element.click();
    const chosen = await page.get('region', 'The chosen tasks');
    await chosen.shows('2 chosen');
    await chosen.press('Cancel 2');
    const dialog = await page.get('dialog', 'Cancel 2');
    await dialog.shows('2 tasks are cancelled');
    assert.deepEqual(backend.called('coordination.cancel_task'), []);
    await dialog.press('Cancel 2');
    await page.lacks('region', 'The chosen tasks');
    assert.deepEqual(backend.called('coordination.cancel_task'), [{ task_id: 'task-1' }, { task_id: 'task-3' }]);
  });

  it('reports how many of the chosen tasks were refused, and keeps these tasks chosen', async () => {
    for (const id of ['task-1', 'task-2']) backend.put(`tasks/${id}`, { description: id, priority: 5 });
    backend.tools['coordination.update_task'] = ({ task_id: id }) => {
      if (id === 'task-2') throw new Refused('There is no such task.');
    };
    const page = await Page.open(backend, '/tasks');
    for (const id of ['task-1', 'task-2']) (await page.get('checkbox', `Choose ${id}`)).element.click();
    await page.press('More urgent');
    await (await page.get('alert')).shows('1 of 2 were refused. task-2: There is no such task.');
    await page.shows('1 chosen');
    assert.equal((await page.get('checkbox', 'Choose task-2')).element.checked, true);
    assert.deepEqual(backend.called('coordination.update_task')[0], { task_id: 'task-1', priority: 4 });
  });

  it('cancels many tasks in groups, shows the progress, and stops if the person asks', async () => {
    for (let number = 1; number <= 55; number++) backend.put(`tasks/task-${number}`);
    backend.tools['coordination.cancel_task'] = ({ task_id: id }) =>
      backend.put(`tasks/${id}`, { status: 'cancelled' });
    const page = await Page.open(backend, '/tasks');
    for (let number = 1; number <= 55; number++) {
      (await page.get('checkbox', `Choose task-${number}`)).element.click();
      await page.get('status', `${number} chosen`);
    }
    const release = backend.hold('coordination.cancel_task');
    await page.press('Cancel 55');
    await (await page.get('dialog')).press('Cancel 55');
    await page.shows('0 of 55');
    await page.press('Stop');
    release();
    await (await page.get('alert')).shows('Stopped after 50 of 55.');
    await page.shows('5 chosen');
    assert.equal(backend.called('coordination.cancel_task').length, 50);
    await page.press('Cancel 5');
    await (await page.get('dialog')).press('Cancel 5');
    await page.shows('Nothing is open.');
    assert.deepEqual(page.all('alert'), []);
  });

  it('cancels, retries or releases a task only after it has explained the effect', async () => {
    backend.put('agents/worker-1');
    backend.put('tasks/task-1', { status: 'in_progress', claimed_by: 'worker-1', dependents: ['task-2'] });
    backend.tools['coordination.cancel_task'] = () => backend.put('tasks/task-1', { status: 'cancelled' });
    const page = await Page.open(backend, '/t/task-1');
    await page.press('Take it from its holder');
    await (await page.get('dialog')).shows('worker-1 loses the task');
    await (await page.get('dialog')).press('Leave it');
    await page.press('Cancel this task');
    const dialog = await page.get('dialog');
    await dialog.shows('worker-1 stops working on it. 1 other task waits for it and could never start.');
    await dialog.press('Cancel this task');
    await page.press('Try it again');
    await page.get('button', 'Try it again');
    const rows = backend.calls.map(({ method, params }) => [method, params]);
    assert.deepEqual(rows, [
      ['coordination.cancel_task', { task_id: 'task-1' }],
      ['coordination.retry_task', { task_id: 'task-1' }],
    ]);
  });

  it('sends a message to the holder of a task, and releases the task', async () => {
    backend.put('tasks/task-1', { status: 'claimed', claimed_by: 'worker-1' });
    const page = await Page.open(backend, '/t/task-1');
    (await page.field('Write to worker-1')).type(' Mind the leap years. ');
    await page.press('Send');
    await page.shows('Sent.');
    assert.equal(page.title, 'Task task-1 · Muster');
    await page.press('Take it from its holder');
    await (await page.get('dialog')).press('Take it from its holder');
    await page.get('button', 'Take it from its holder');
    const callParams = backend.calls.map(({ params }) => params);
    assert.deepEqual(callParams, [
      { agent_id: 'worker-1', message: 'Mind the leap years.', task_id: 'task-1' },
      { task_id: 'task-1' },
    ]);
  });

  it('answers a question by a button, and an approval request with a comment', async () => {
    backend.put('requests/which', { kind: 'choice', question: 'Which dates?', options: ['Excel', '20xx'] });
    const rights = { toolsets: null, held_to: null, readonly: false, grant: null };
    const call = { tool: 'github.createPR', arguments: '{"title":"A"}', ...rights };
    backend.put('requests/may', { kind: 'approval', question: 'May I?', call });
    backend.tools['inbox.answer'] = ({ request_id: id }) => backend.put(`requests/${id}`, { state: 'answered' });
    const page = await Page.open(backend, '/');
    await (await page.get('article', /Which dates/)).press('20xx');
    await page.lacks('article', /Which dates/);
    const approval = await page.get('article', /github\.createPR/);
    (await approval.field('What you want to say with it')).type('Gladly');
    await approval.press('Approve');
    await page.shows('No pending questions.');
    assert.deepEqual(backend.called('inbox.answer'), [
      { request_id: 'which', answer: '20xx' },
      { request_id: 'may', answer: 'approve', comment: 'Gladly' },
    ]);
  });

  it('sets and removes the budget of a task, and rejects an invalid amount', async () => {
    backend.put('tasks/task-1');
    let money: unknown;
    const amount = { limit: {}, spent: { money: 0, tokens: 0 }, left: {} };
    backend.tools['system.getTree'] = ({ kind, id }) => ({
      node: { kind, id },
      path: [],
      parts: [],
      budgets: money === undefined ? [] : [{ ...amount, kind, id, limit: { money } }],
    });
    backend.tools['system.setBudget'] = ({ money: wanted }) => {
      money = wanted;
    };
    const page = await Page.open(backend, '/t/task-1');
    const field = await page.field('May cost, in US dollars');
    field.type('a lot');
    assert.equal((await page.get('button', 'Set the limit')).isDisabled, true);
    field.type('2.5');
    await page.press('Set the limit');
    await page.shows('At most $2.50 for the task');
    (await page.field('May cost, in US dollars')).type('');
    await page.press('Set the limit');
    await page.hides('At most $2.50');
    const about = { kind: 'task', id: 'task-1' };
    assert.deepEqual(backend.called('system.setBudget'), [
      { ...about, money: 2.5 },
      { ...about, clear: ['money'] },
    ]);
  });

  it('adds a to-do with the due date in its title, unless the person declines the date', async () => {
    const page = await Page.open(backend, '/todos');
    (await page.field('What is to do')).type('Mow the lawn in 3 days 9:15');
    await page.shows('as “in 3 days 9:15” says');
    await page.press('Add');
    await page.hides('as “in 3 days');
    (await page.field('What is to do')).type('Sing a song tomorrow');
    await page.press('Remove date');
    await page.press('Add');
    const { timeZone: timezone } = Intl.DateTimeFormat().resolvedOptions();
    assert.deepEqual(backend.called('todo.add_task'), [
      { title: 'Mow the lawn', priority: 'MEDIUM', when: 'in 3 days 9:15', timezone },
      { title: 'Sing a song tomorrow', priority: 'MEDIUM' },
    ]);
  });

  it('finds the date in the title of a to-do that is added before the page shows the date', async () => {
    const page = await Page.open(backend, '/todos');
    const [title, add] = [await page.field('What is to do'), await page.get('button', 'Add')];
    title.type('Mow the lawn in 3 days');
    add.element.click();
    await page.waitFor('the call', () => backend.called('todo.add_task').length > 0);
    const { timeZone: timezone } = Intl.DateTimeFormat().resolvedOptions();
    const sent = { title: 'Mow the lawn', priority: 'MEDIUM', when: 'in 3 days', timezone };
    assert.deepEqual(backend.called('todo.add_task'), [sent]);
  });

  it('shows what a repetition in a title means, or that it is not understood', async () => {
    const page = await Page.open(backend, '/todos');
    const title = await page.field('What is to do');
    title.type('Water the office every second monday 9:00');
    await page.shows('Comes every 2 weeks on Monday at 09:00, as “every second monday 9:00” says.');
    title.type('Water the office every banana');
    await page.shows('The repetition is not understood, so this comes once.');
    await page.hides('Comes every');
    title.type('Water the office');
    await page.hides('not understood');
  });

  it('creates a key, shows its secret until the person leaves the screen, and shows a refusal', async () => {
    backend.tools['access.list_connections'] = () => ({ connections: [] });
    backend.tools['onboarding.registerAgent'] = () => {
      throw new Refused('You have too many agents.');
    };
    const page = await Page.open(backend, '/agents?workspace=alpha');
    (await page.field('Name of a machine')).type('ci-1');
    await page.press('New key');
    await (await page.get('dialog')).press('New key');
    await (await page.get('alert')).shows('You have too many agents.');
    const credentials = { apiKey: 'mk_a', secret: 'hush', expiresAt: '2099-01-01T00:00:00Z' };
    backend.tools['onboarding.registerAgent'] = () => ({ agentId: 'ci-1-x', credentials });
    await page.press('New key');
    await (await page.get('dialog')).press('New key');
    await page.shows('The key of ci-1-x, until 2099-01-01. It is shown only now:mk_a.hush');
    await page.shows('muster "http://hub.example/mcp?workspace=alpha" --header "Authorization: Bearer <key>"');
    const { workspace, role } = registerAgent.input.parse(backend.called('onboarding.registerAgent')[1]);
    assert.deepEqual([workspace, role], ['alpha', 'worker']);
    page.follow('/tasks?workspace=alpha');
    await page.hides('hush');
    page.follow('/agents?workspace=alpha');
    await page.field('Name of a machine');
    assert.ok(!page.text.includes('hush'));
  });

  it('withdraws an invitation only after it has explained the effect', async () => {
    let invitations = [{ email: 'eve@example.org', role: 'worker', expires_at: new Date().toISOString() }];
    backend.tools['access.list_members'] = () => ({ access: 'private', members: [], invitations });
    backend.tools['access.withdraw_invitation'] = () => {
      invitations = [];
    };
    const page = await Page.open(backend, '/access');
    await (await page.get('listitem', /^eve@example\.org is invited as worker/)).press('Withdraw');
    const dialog = await page.get('dialog');
    await dialog.shows('eve@example.org can no longer join default with this invitation.');
    assert.deepEqual(backend.called('access.withdraw_invitation'), []);
    await dialog.press('Withdraw');
    await page.lacks('listitem', /eve@example\.org/);
    assert.deepEqual(backend.called('access.withdraw_invitation'), [{ email: 'eve@example.org' }]);
  });

  it('keeps the text that a person types while another to-do is being added', async () => {
    const page = await Page.open(backend, '/todos');
    const [title, due] = [await page.field('What is to do'), await page.field('Due')];
    const release = backend.hold('todo.add_task');
    title.type('First');
    due.type('2099-03-01T08:00');
    await page.press('Add');
    title.type('Second');
    release();
    // The fields of the first to-do are emptied when its call has completed.
    await page.waitFor('the due date is empty', () => due.value === '');
    assert.equal(title.value, 'Second');
  });

  it('completes a to-do, undoes the completion, and deletes a to-do after a confirmation', async () => {
    backend.put('todos/todo-1', { title: 'Water the plants' });
    backend.tools['todo.complete_task'] = () =>
      backend.put('todos/todo-1', { completed: true, completed_at: new Date() });
    backend.tools['todo.reopen_task'] = () => backend.put('todos/todo-1', { completed: false, completed_at: null });
    backend.tools['todo.delete_task'] = () => backend.remove('todos/todo-1');
    const page = await Page.open(backend, '/todos?show=all');
    await page.press('Done');
    await (await page.get('region', 'Done today')).shows('Water the plants');
    await page.press('Undo');
    await page.press('Delete');
    await (await page.get('dialog')).shows('“Water the plants” is deleted.');
    await (await page.get('dialog')).press('Delete');
    await page.shows('Nothing is to do.');
    assert.deepEqual(backend.called('todo.reopen_task'), [{ task_id: 'todo-1' }]);
  });

  it('shows the button Undo for only ten seconds after a change', async () => {
    backend.put('todos/todo-1');
    const page = await Page.open(backend, '/todos?show=all');
    await page.press('Done');
    await page.get('button', 'Undo');
    page.pass(11_000);
    await page.lacks('button', 'Undo');
  });

  it('sends only the changed fields of a to-do, and marks emptied fields as removed', async () => {
    const due = new Date('2099-01-01T10:00:30Z');
    backend.put('todos/todo-1', { title: 'Write', description: 'Notes', due_date: due, tags: ['a', 'b'] });
    const page = await Page.open(backend, '/d/todo-1');
    const save = async () => await page.press('Save');
    await save();
    (await page.field('Title')).type('Write more');
    (await page.field('Description')).type('');
    (await page.field('Tags')).type('a, c');
    await save();
    await page.get('button', 'Save');
    assert.deepEqual(backend.called('todo.update_task'), [
      { task_id: 'todo-1', title: 'Write more', tags: ['a', 'c'], clear: ['description'] },
    ]);
  });

  it('shows, postpones, removes and sets the reminder of a to-do, and delegates the to-do', async () => {
    let reminders = [{ id: 'other', task_id: 'todo-2', remind_at: new Date(Date.now() + DAY).toISOString() }];
    const own = { ...reminders[0], id: 'own', task_id: 'todo-1', remind_at: new Date().toISOString() };
    backend.put('todos/todo-1');
    backend.tools['todo.list_reminders'] = ({ cursor }) =>
      cursor === undefined ? { reminders, next_cursor: '2' } : { reminders: [] };
    backend.tools['todo.set_reminder'] = () => {
      reminders = [...reminders, own];
    };
    backend.tools['todo.delete_reminder'] = () => {
      reminders = reminders.slice(0, 1);
    };
    backend.tools['todo.delegate'] = () => backend.put('todos/todo-1', { delegated_task_id: 'task-9' });
    const page = await Page.open(backend, '/d/todo-1');
    const reminder = await page.get('region', 'Reminder');
    await reminder.shows('None is set.');
    (await reminder.field('Remind me at')).type('2099-03-01T08:00');
    await reminder.press('Set the reminder');
    await reminder.shows('You are reminded');
    await reminder.press('In an hour instead');
    await reminder.press('Not at all');
    await reminder.shows('None is set.');
    await page.press('Have agents do it');
    assert.equal((await page.get('link', 'task-9')).element.getAttribute('href'), '/t/task-9');
    const remind_at = new Date('2099-03-01T08:00').toISOString();
    assert.deepEqual(backend.called('todo.set_reminder'), [{ task_id: 'todo-1', remind_at }]);
    assert.deepEqual(backend.called('todo.snooze_reminder'), [{ reminder_id: 'own', minutes: 60 }]);
    assert.deepEqual(backend.called('todo.delete_reminder'), [{ reminder_id: 'own' }]);
  });

  it('saves the preferences of a person, and rejects invalid values', async () => {
    backend.put('agents/helper', { name: 'Helper', owner_uid: 'ada' });
    const page = await Page.open(backend, '/preferences');
    const minutes = await page.field('Minutes before');
    assert.equal(minutes.value, '60');
    minutes.type('soon');
    assert.equal((await page.get('button', 'Save')).isDisabled, true);
    minutes.type('15');
    (await page.field('By mail')).element.click();
    (await page.field('Helper')).element.click();
    await page.press('Save');
    await page.waitFor('it is stored', () => backend.document('preferences/ada'));
    assert.deepEqual(backend.document('preferences/ada'), {
      reminder_lead_minutes: 15,
      push: true,
      email: true,
      agents_may_answer: ['helper'],
    });
  });

  it('starts a run with a budget, and opens the page of the run', async () => {
    backend.put('runs/run-1', { title: 'Say which index' });
    backend.tools['orchestration.orchestrate'] = () => ({ runId: 'run-1' });
    const page = await Page.open(backend, '/runs');
    (await page.field('What to do')).type('Say which index');
    (await page.field('How')).choose('direct');
    (await page.field('May cost')).type('0.5');
    await page.press('Ask');
    await page.get('heading', 'Say which index');
    assert.equal(page.address, '/r/run-1');
    assert.deepEqual(backend.called('orchestration.orchestrate'), [
      {
        prompt: 'Say which index',
        preferences: { workflow: 'direct' },
        options: { timeout: 0, budget: { cost_usd: 0.5 } },
      },
    ]);
  });

  it('explains which permission a person lacks, and who can grant it', async () => {
    backend.tools['access.explain'] = () => ({
      allowed: false,
      needs: 'the role leader',
      why: 'A worker may not.',
      has: { role: 'worker' },
      changeable_by: { who: 'a leader', people: [{ uid: 'ben', name: 'Ben' }] },
    });
    const page = await Page.open(backend, '/access');
    (await page.field('Of')).choose('firestore');
    (await page.field('Path')).type('tasks/task-1');
    (await page.field('To')).choose('write');
    await page.press('Explain');
    await page.shows('Refused.');
    await page.shows('It needs the role leader. The role that counts is worker.');
    await page.shows('It can be changed by a leader: Ben.');
    assert.deepEqual(backend.called('access.explain'), [
      { database: 'firestore', path: 'tasks/task-1', operation: 'write' },
    ]);
  });

  it('undoes the actions of an agent from its audit log, and reports those that were not undone', async () => {
    const event = { event_id: 'e1', at: new Date().toISOString(), by: 'worker-1', on_behalf_of: 'ada' };
    let undone_by: string | undefined;
    backend.tools['system.getAudit'] = () => ({
      events: [{ ...event, tool: 'coordination.create_task', workspace: 'default', changes: [], undone_by }],
    });
    backend.tools['system.undo'] = () => {
      undone_by = 'ada';
      const refused = [{ kind: 'todo', id: 'todo-1', why: 'It was changed since.', changed_by: 'ben' }];
      return { undone: [{ kind: 'task', id: 'task-1' }], refused, more: false };
    };
    const page = await Page.open(backend, '/audit?of=workspace');
    await page.press('Take it back');
    await (await page.get('dialog')).press('Take it back');
    await page.shows('Undone: task task-1.');
    await page.shows('todo todo-1 was not: It was changed since. (ben)');
    await (await page.get('listitem', /create_task/)).shows('undone');
    assert.deepEqual(backend.called('system.undo'), [{ event_id: 'e1' }]);
  });

  it('reports that the outcome is unknown if a call gets no response', async () => {
    backend.put('tasks/task-1');
    const page = await Page.open(backend, '/t/task-1');
    await page.get('button', 'More urgent');
    backend.isReachable = false;
    await page.press('More urgent');
    await (await page.get('alert')).shows('Check whether the change was made before you retry.');
  });
});
