/** Repair of to-dos that were edited directly. Repairs also run concurrently, late, and during calls of tools. */
import assert from 'node:assert/strict';
import type { Change } from '../../../functions/src/composition/changes.ts';
import type { Store } from '../../../functions/src/kernel/commit.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { COLLECTIONS, reminderPath, todoPath } from '../../../functions/src/kernel/firestore/paths.ts';
import { repairTodo } from '../../../functions/src/toolsets/todo/rules/repair.ts';
import type { Todo } from '../../../functions/src/toolsets/todo/rules/todo.ts';
import { TodoService } from '../../../functions/src/toolsets/todo/rules/todos.ts';
import { todoFromRecord } from '../../../functions/src/toolsets/todo/store/todoDocument.ts';
import { Team, unkeyed } from '../coordination/team.ts';

const DAY = 86_400;

describe('repair of to-dos', () => {
  let team: Team;
  let owner: string;

  beforeEach(() => {
    team = new Team();
    owner = team.leader.owner_uid;
  });

  const inDays = (days: number) => new Date(team.now.getTime() + days * DAY * 1000);
  const document = (id: string) => firestore().doc(todoPath(id));

  async function add(title: string): Promise<string> {
    return (await team.app.services.todos.add(owner, { title, due_date: inDays(1) }, unkeyed)).id;
  }

  async function begin(): Promise<string> {
    const draft = { title: 'Standup', frequency: 'DAILY', start_date: inDays(1) };
    return (await team.app.services.recurringTasks.create(owner, draft, unkeyed)).first.id;
  }

  /** Returns the owner's events as `type to-do id`, sorted. */
  async function happened(): Promise<readonly string[]> {
    const found = await firestore().collection(COLLECTIONS.events).where('user_id', '==', owner).get();
    return found.docs.map((event) => `${event.get('event_type')} ${event.get('task_id')}`).sort();
  }

  async function open(): Promise<readonly string[]> {
    const found = await firestore()
      .collection(COLLECTIONS.todos)
      .where('owner_uid', '==', owner)
      .where('completed', '==', false)
      .get();
    return found.docs.map(({ id }) => id);
  }

  /** Returns a store whose first commit waits until the callback has finished. */
  function pausing(until: () => Promise<unknown>): Store<Change> {
    let isFirst = true;
    return {
      async commit(changes, settled) {
        const mustWait = isFirst;
        isFirst = false;
        if (mustWait) await until();
        await team.app.kernel.store.commit(changes, settled);
      },
    };
  }

  /** Returns stores whose first commits wait for each other, so that all callers decide from the same state. */
  function meeting(count: number): readonly Store<Change>[] {
    let missing = count;
    let meet: () => void = () => undefined;
    const met = new Promise<void>((resolve) => {
      meet = resolve;
    });
    return Array.from({ length: count }, () =>
      pausing(() => {
        missing -= 1;
        if (missing === 0) meet();
        return met;
      }),
    );
  }

  const repairWith = (store: Store<Change>, id: string, before?: Todo) =>
    repairTodo({ ...team.app.todo.ports, store }, id, before);

  it('keeps a title reserved for an open to-do if others with the title are completed or deleted', async () => {
    await add('Water the plants');
    const doubles = await Promise.all(['one', 'two', 'three'].map(add));
    for (const double of doubles) {
      await document(double).update({ title: 'Water the plants' });
      await team.app.services.repairTodo(double, undefined);
    }
    const [completed = '', deleted = '', renamed = ''] = doubles;
    const { todos } = team.app.services;
    await todos.complete(owner, completed, unkeyed);
    await todos.delete(owner, deleted, unkeyed);
    await todos.edit(owner, renamed, { title: 'Another' }, unkeyed);
    await assert.rejects(add('Water the plants'), ({ details }) => details.reason === 'DUPLICATE_TASK');
  });

  it('applies an edit once if concurrent repairs process it', async () => {
    const id = await add('Water the plants');
    await document(id).update({ title: 'Water the roses', due_date: inDays(3) });
    await Promise.all(meeting(3).map((store) => repairWith(store, id)));
    assert.deepEqual(await happened(), [`created ${id}`, `updated ${id}`]);
    const reminder = (await firestore().doc(reminderPath(id)).get()).data();
    assert.equal(reminder?.['task_title'], 'Water the roses');
    assert.deepEqual(reminder?.['remind_at'].toDate(), new Date(inDays(3).getTime() - 3_600_000));
  });

  it('creates one next occurrence if concurrent repairs process one completion', async () => {
    const first = await begin();
    await document(first).update({ completed: true });
    await Promise.all(meeting(3).map((store) => repairWith(store, first)));
    const [next, ...more] = await open();
    assert.deepEqual(more, []);
    assert.deepEqual(await happened(), [`completed ${first}`, `created ${first}`, `created ${next}`].sort());
  });

  it('creates one next occurrence if the repair runs while a tool completes the to-do', async () => {
    const first = await begin();
    const tool = new TodoService({
      ...team.app.todo.ports,
      store: pausing(async () => {
        await document(first).update({ completed: true });
        await team.app.services.repairTodo(first, undefined);
      }),
    });
    await assert.rejects(tool.complete(owner, first, unkeyed), /already completed/);
    const [next, ...more] = await open();
    assert.deepEqual(more, []);
    assert.deepEqual(await happened(), [`completed ${first}`, `created ${first}`, `created ${next}`].sort());
  });

  it('records a direct edit before the change that a tool makes after it', async () => {
    const id = await add('Water the plants');
    await document(id).update({ title: 'Water the roses', due_date: inDays(3) });
    await team.app.services.todos.edit(owner, id, { priority: 'HIGH' }, unkeyed);
    await team.app.services.repairTodo(id, undefined);
    const found = await firestore().collection(COLLECTIONS.events).where('task_id', '==', id).get();
    const reported = found.docs.map((event) => event.get('event_data'));
    assert.equal(reported.length, 3);
    const created = reported.find(({ before }) => before === null);
    const edited = reported.find(({ before, changes }) => before !== null && changes.includes('title'));
    const ranked = reported.find(({ before, changes }) => before !== null && changes.includes('priority'));
    assert.deepEqual([edited.changes, ranked.changes], [['title', 'due_date'], ['priority']]);
    assert.deepEqual([edited.before, ranked.before], [created.after, edited.after]);
    const reminder = (await firestore().doc(reminderPath(id)).get()).data();
    assert.equal(reminder?.['task_title'], 'Water the roses');
    assert.deepEqual(reminder?.['remind_at'].toDate(), new Date(inDays(3).getTime() - 3_600_000));
  });

  it('records a direct completion even if a tool call precedes the repair', async () => {
    const first = await begin();
    await document(first).update({ completed: true });
    await team.app.services.todos.edit(owner, first, { priority: 'HIGH' }, unkeyed);
    const [next, ...more] = await open();
    assert.deepEqual(more, []);
    const expected = [`created ${first}`, `completed ${first}`, `created ${next}`, `updated ${first}`];
    assert.deepEqual(await happened(), expected.sort());
  });

  it('records one completion if a tool completes the to-do during the repair', async () => {
    const first = await begin();
    await document(first).update({ title: 'Stand-up' });
    const completing = pausing(() => team.app.services.todos.complete(owner, first, unkeyed));
    await repairWith(completing, first);
    await team.app.services.repairTodo(first, undefined);
    const [next, ...more] = await open();
    assert.deepEqual(more, []);
    const expected = [`created ${first}`, `updated ${first}`, `completed ${first}`, `created ${next}`];
    assert.deepEqual(await happened(), expected.sort());
  });

  it('ignores trigger events of a deleted to-do that arrive late', async () => {
    const first = await begin();
    const asItWas = (await document(first).get()).data();
    await document(first).update({ title: 'Stand-up' });
    await team.app.services.todos.delete(owner, first, unkeyed);
    const [next] = await open();
    for (const before of [asItWas, undefined]) await team.app.services.repairTodo(first, before);
    await Promise.all(meeting(2).map((store) => repairWith(store, first, todoFromRecord(asItWas))));
    assert.deepEqual(await open(), [next]);
    const expected = [`created ${first}`, `updated ${first}`, `created ${next}`, `deleted ${first}`];
    assert.deepEqual(await happened(), expected.sort());
  });

  it('keeps one open occurrence when events of earlier occurrences arrive late', async () => {
    const first = await begin();
    await document(first).update({ completed: true });
    await team.app.services.repairTodo(first, undefined);
    const [second] = await open();
    assert.ok(second);
    await team.app.services.todos.complete(owner, second, unkeyed);
    const [third, ...more] = await open();
    assert.deepEqual(more, []);
    for (const late of [second, first, first, second]) await team.app.services.repairTodo(late, undefined);
    assert.deepEqual(await open(), [third]);
    assert.equal((await happened()).length, 5);
  });

  it('records no event if only whitespace and derived fields have changed', async () => {
    const id = await add('Water the plants');
    await document(id).update({ title: ' Water the plants ', created_at: inDays(-1), index: {} });
    await team.app.services.repairTodo(id, undefined);
    assert.deepEqual(await happened(), [`created ${id}`]);
    const { title, recorded, index } = Object((await document(id).get()).data());
    assert.deepEqual(
      [title, recorded.created_at, index.created],
      ['Water the plants', inDays(-1).toISOString(), inDays(-1).getTime()],
    );
  });
});
