/** Actions of a person on their to-dos: calls of the tools, and the offer to undo them. */
import assert from 'node:assert/strict';
import { Backend, Refused } from './backend.ts';
import { NOW } from './clock.ts';
import { Page } from './page.ts';

const { timeZone: timezone } = Intl.DateTimeFormat().resolvedOptions();

describe('console screens of to-dos', () => {
  let backend: Backend;

  beforeEach(() => {
    backend = new Backend();
  });

  it('add a to-do with the due date in its title, unless the person declines the date', async () => {
    const page = await Page.open(backend, '/todos');
    const title = await page.field('New to-do');
    title.type('Mow the lawn in 3 days 9:15');
    await page.get('status', /^Fri, Nov 27, 0?9:15/);
    await page.press('Add');
    await page.lacks('status', /^Fri/);
    title.type('Sing a song tomorrow');
    await page.press('Remove date');
    await page.press('Add');
    await page.waitFor('an empty field', () => title.value === '');
    assert.deepEqual(backend.called('todo.add_task'), [
      { title: 'Mow the lawn', priority: 'MEDIUM', when: 'in 3 days 9:15', timezone },
      { title: 'Sing a song tomorrow', priority: 'MEDIUM' },
    ]);
  });

  it('find the date in the title of a to-do that is added before the page shows the date', async () => {
    const page = await Page.open(backend, '/todos');
    const [title, add] = [await page.field('New to-do'), await page.get('button', 'Add')];
    title.type('Mow the lawn in 3 days');
    add.element.click();
    await page.waitFor('the call', () => backend.called('todo.add_task').length > 0);
    const sent = { title: 'Mow the lawn', priority: 'MEDIUM', when: 'in 3 days', timezone };
    assert.deepEqual(backend.called('todo.add_task'), [sent]);
  });

  it('show what a repetition in a title means, or that it is not understood', async () => {
    const page = await Page.open(backend, '/todos');
    const title = await page.field('New to-do');
    title.type('Water the office every second monday 9:00');
    await page.get('status', 'Every 2 weeks on Monday at 09:00');
    title.type('Water the office every banana');
    await page.get('status', /^The repetition isn’t understood, so this is due once\./);
    await page.lacks('status', /^Every/);
    title.type('Water the office');
    await page.lacks('status', /understood/);
  });

  it('keep the text that a person types while another to-do is being added', async () => {
    const page = await Page.open(backend, '/todos');
    const title = await page.field('New to-do');
    await page.press('Due');
    const due = await page.field('Due');
    const release = backend.hold('todo.add_task');
    title.type('First');
    due.type('2099-03-01T08:00');
    await page.press('Add');
    title.type('Second');
    release();
    // The field of the due date is closed when the call for the first to-do has completed.
    await page.get('button', 'Due');
    assert.equal(title.value, 'Second');
    const due_date = new Date('2099-03-01T08:00').toISOString();
    assert.deepEqual(backend.called('todo.add_task'), [{ title: 'First', priority: 'MEDIUM', due_date }]);
  });

  it('complete and delete a to-do at once, and undo both', async () => {
    backend.put('todos/todo-1', { title: 'Water the plants' });
    backend.tools['todo.complete_task'] = () => backend.put('todos/todo-1', { completed: true, completed_at: NOW });
    backend.tools['todo.reopen_task'] = () => backend.put('todos/todo-1', { completed: false, completed_at: null });
    backend.tools['todo.delete_task'] = () => backend.remove('todos/todo-1');
    const event = { event_id: 'e1', at: NOW.toISOString(), by: 'ada', on_behalf_of: 'ada', changes: [] };
    backend.tools['system.getAudit'] = ({ thing }) => ({
      events: thing === 'todo:todo-1' ? [{ ...event, tool: 'todo.delete_task' }] : [],
    });
    backend.tools['system.undo'] = ({ event_id: id }) => {
      if (id === 'e1') backend.put('todos/todo-1', { title: 'Water the plants' });
      return { undone: [{ kind: 'todo', id: 'todo-1' }], refused: [] };
    };
    const page = await Page.open(backend, '/todos?show=all');
    await page.press('Mark done: Water the plants');
    await (await page.get('region', 'Done today')).shows('Water the plants');
    await (await page.get('status', /^Done: Water the plants/)).press('Undo');
    await page.choose('Actions for Water the plants', 'Delete');
    await page.shows('No to-dos');
    await (await page.get('status', /^Deleted Water the plants/)).press('Undo');
    await page.get('link', 'Water the plants');
    assert.deepEqual(
      backend.changes.map(({ method, params }) => [method, params]),
      [
        ['todo.complete_task', { task_id: 'todo-1' }],
        ['todo.reopen_task', { task_id: 'todo-1' }],
        ['todo.delete_task', { task_id: 'todo-1' }],
        ['system.undo', { event_id: 'e1' }],
      ],
    );
  });

  it('report why a deletion is not undone', async () => {
    backend.put('todos/todo-1', { title: 'Water the plants' });
    backend.tools['todo.delete_task'] = () => backend.remove('todos/todo-1');
    const event = { event_id: 'e1', at: NOW.toISOString(), by: 'ada', on_behalf_of: 'ada', changes: [] };
    backend.tools['system.getAudit'] = () => ({ events: [{ ...event, tool: 'todo.delete_task' }] });
    backend.tools['system.undo'] = () => ({ undone: [], refused: [{ why: 'It was changed since.' }] });
    const page = await Page.open(backend, '/todos?show=all');
    await page.choose('Actions for Water the plants', 'Delete');
    await page.press('Undo');
    await (await page.get('alert')).shows('It was changed since.');
  });

  it('move a to-do to tomorrow, at the same time of day, and back', async () => {
    backend.put('todos/todo-1', { title: 'Water the plants', due_date: new Date(2026, 10, 24, 15, 30) });
    backend.tools['todo.update_task'] = ({ due_date: due }) =>
      backend.put('todos/todo-1', { due_date: new Date(String(due)) });
    const page = await Page.open(backend, '/todos?show=week');
    await (await page.get('region', 'Today')).choose('Actions for Water the plants', 'Move to tomorrow');
    await (await page.get('region', 'Wednesday, November 25')).get('link', 'Water the plants');
    await (await page.get('status', /^Moved Water the plants/)).press('Undo');
    await (await page.get('region', 'Today')).get('link', 'Water the plants');
    const dates = [new Date(2026, 10, 25, 15, 30), new Date(2026, 10, 24, 15, 30)];
    assert.deepEqual(
      backend.called('todo.update_task'),
      dates.map((date) => ({ task_id: 'todo-1', due_date: date.toISOString() })),
    );
  });

  it('show the button Undo for only ten seconds after a change', async () => {
    backend.put('todos/todo-1', { title: 'Water the plants' });
    const page = await Page.open(backend, '/todos?show=all');
    await page.press('Mark done: Water the plants');
    await page.get('button', 'Undo');
    await page.pass(9000);
    await page.get('button', 'Undo');
    await page.pass(1000);
    await page.lacks('button', 'Undo');
  });

  it('send only the changed fields of a to-do, and mark emptied fields as removed', async () => {
    const due = new Date('2099-01-01T10:00:30Z');
    const todo = { title: 'Write', description: 'Notes', due_date: due, tags: ['a', 'b'], priority: 'MEDIUM' };
    backend.put('todos/todo-1', todo);
    const page = await Page.open(backend, '/d/todo-1');
    assert.equal((await page.get('button', 'Save changes')).isDisabled, true);
    (await page.field('Title')).type('Write more');
    (await page.field('Description')).type('');
    (await page.field('Tags')).type('a, c');
    await page.press('Save changes');
    await page.get('status', /^Saved/);
    assert.deepEqual(backend.called('todo.update_task'), [
      { task_id: 'todo-1', title: 'Write more', tags: ['a', 'c'], clear: ['description'] },
    ]);
  });

  it('show a refusal next to the form, with the typed text', async () => {
    backend.put('todos/todo-1', { title: 'Write' });
    backend.tools['todo.update_task'] = () => {
      throw new Refused('The title is taken.');
    };
    const page = await Page.open(backend, '/d/todo-1');
    const title = await page.field('Title');
    title.type('Write more');
    await page.press('Save changes');
    await (await page.get('alert')).shows('The title is taken.');
    assert.equal(title.value, 'Write more');
  });

  it('set, postpone and remove the reminder of a to-do, and assign the to-do to agents', async () => {
    let reminders = [{ id: 'other', task_id: 'todo-2', remind_at: new Date(NOW.getTime() + 86_400_000).toISOString() }];
    const own = { ...reminders[0], id: 'own', task_id: 'todo-1', remind_at: NOW.toISOString() };
    backend.put('todos/todo-1');
    backend.put('tasks/task-9', { description: 'Water the plants' });
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
    await reminder.shows('No reminder set');
    (await reminder.field('Remind me at')).type('2099-03-01T08:00');
    await reminder.press('Set');
    await reminder.shows('Reminder just now');
    await reminder.press('In 1 hour');
    await reminder.press('Remove reminder');
    await reminder.shows('No reminder set');
    await reminder.press('In 10 min');
    await reminder.get('button', 'Remove reminder');
    await page.press('Assign to agents');
    const link = await (await page.get('region', 'Agents')).get('link', 'Water the plants');
    assert.equal(link.element.getAttribute('href'), '/t/task-9');
    const set = [new Date('2099-03-01T08:00'), new Date(NOW.getTime() + 600_000)];
    assert.deepEqual(
      backend.called('todo.set_reminder'),
      set.map((date) => ({ task_id: 'todo-1', remind_at: date.toISOString() })),
    );
    assert.deepEqual(backend.called('todo.snooze_reminder'), [{ reminder_id: 'own', minutes: 60 }]);
    assert.deepEqual(backend.called('todo.delete_reminder'), [{ reminder_id: 'own' }]);
  });
});
