import assert from 'node:assert/strict';
import type { Change } from '../../../functions/src/composition/changes.ts';
import type { Versioned } from '../../../functions/src/kernel/commit.ts';
import { systemHashing } from '../../../functions/src/kernel/platform.ts';
import { guardChanges, guardChangesIfFree } from '../../../functions/src/toolsets/todo/rules/duplicateGuard.ts';
import type { TodoPorts } from '../../../functions/src/toolsets/todo/rules/ports.ts';
import type { Todo } from '../../../functions/src/toolsets/todo/rules/todo.ts';
import { START, sampleTodo, secondsAfterStart, versionOf } from '../../support/builders.ts';
import { portsOf } from '../../support/ports.ts';
import { refusal } from '../../support/refusal.ts';

/** Returns the changes to the title guards, given the existing guards and to-dos. */
function titlesAmong(guards: ReadonlyMap<string, string> = new Map(), todos: readonly Todo[] = []) {
  const found = <Value>(value: Value | undefined): Versioned<Value> | undefined =>
    value === undefined ? undefined : versionOf(value);
  const ports = portsOf<TodoPorts>({
    todos: {
      find: async (id) => found(todos.find((todo) => todo.id === id)),
      findGuard: async (id) => found(guards.get(id)),
    },
    hashing: systemHashing,
  });
  return {
    changes: (before: Todo | undefined, after: Todo | undefined) => guardChanges(ports, before, after),
    tolerantChanges: (before: Todo | undefined, after: Todo) => guardChangesIfFree(ports, before, after),
  };
}

async function guardOf(todo: Todo): Promise<string | undefined> {
  const [change] = await titlesAmong().changes(undefined, todo);
  return change?.kind === 'reserveTitle' ? change.id : undefined;
}

describe('guard that keeps the title of a to-do unique', () => {
  const todo = sampleTodo({ title: 'Straße fegen', due_date: START });

  it('ignores case, Unicode form and surrounding spaces of the title', async () => {
    for (const title of [' Straße fegen ', 'STRASSE FEGEN', 'strasse fegen'])
      assert.equal(await guardOf({ ...todo, title }), await guardOf(todo), title);
    const accents = ['Caf\u00e9', 'CAFE\u0301'].map((title) => guardOf({ ...todo, title }));
    assert.equal(await accents[0], await accents[1]);
  });

  it('is a different guard for another owner, due date or title', async () => {
    const different = [
      todo,
      { ...todo, owner_uid: 'another' },
      { ...todo, due_date: secondsAfterStart(1) },
      sampleTodo({ title: todo.title }),
      { ...todo, title: 'Strasse  fegen' },
      { ...todo, title: 'Cafe' },
      { ...todo, title: 'Caf\u00e9' },
    ];
    assert.equal(new Set(await Promise.all(different.map(guardOf))).size, different.length);
  });

  it('exists only while the to-do is open', async () => {
    const guard = await guardOf(todo);
    const done = { ...todo, completed: true };
    assert.equal(await guardOf(done), undefined);
    const titles = titlesAmong(new Map([[String(guard), todo.id]]), [todo]);
    const { version } = versionOf(todo.id);
    const released = [{ kind: 'releaseTitle', id: guard, version }];
    assert.deepEqual(await titles.changes(todo, done), released);
    assert.deepEqual(await titles.changes(todo, undefined), released);
    assert.deepEqual(await titles.changes(todo, { ...todo, title: 'STRASSE fegen' }), []);
  });

  it('cannot be created for a second to-do with the guarded title', async () => {
    const guard = String(await guardOf(todo));
    const taken = titlesAmong(new Map([[guard, todo.id]]), [todo]);
    const twin = { ...todo, id: 'todo-2' };
    const { code, details } = await refusal(() => taken.changes(undefined, twin));
    assert.deepEqual(
      [code, details.reason, details.about],
      ['CONFLICT', 'DUPLICATE_TASK', { existing_task_id: todo.id }],
    );
    assert.deepEqual(await taken.changes(undefined, todo), []);
    assert.deepEqual(await taken.tolerantChanges(undefined, twin), []);
  });

  it('replaces an old guard whose to-do no longer has the guarded title', async () => {
    const guard = String(await guardOf(todo));
    const guards = new Map([[guard, 'todo-2']]);
    const { version } = versionOf('todo-2');
    const takenOver: Change[] = [{ kind: 'reserveTitle', id: guard, taskId: todo.id, replaces: version }];
    const holders = [
      undefined,
      sampleTodo({ id: 'todo-2', title: 'Another' }),
      { ...todo, id: 'todo-2', completed: true },
    ];
    for (const holder of holders) {
      const titles = titlesAmong(guards, holder ? [holder] : []);
      assert.deepEqual(await titles.changes(undefined, todo), takenOver);
    }
  });

  it('is created at the next change of a to-do that has no guard, if the title is available', async () => {
    const guard = String(await guardOf(todo));
    const ranked = { ...todo, priority: 'HIGH' } as const;
    const reserving: Change = { kind: 'reserveTitle', id: guard, taskId: todo.id };
    const replacing: Change = { ...reserving, replaces: versionOf('todo-2').version };
    const taken = new Map([[guard, 'todo-2']]);
    const double = { ...todo, id: 'todo-2' };
    for (const change of ['changes', 'tolerantChanges'] as const) {
      assert.deepEqual(await titlesAmong()[change](todo, ranked), [reserving], change);
      assert.deepEqual(await titlesAmong(taken)[change](todo, ranked), [replacing], change);
      assert.deepEqual(await titlesAmong(taken, [double])[change](todo, ranked), [], change);
    }
  });

  it('is not deleted with a to-do to which it does not belong', async () => {
    const guard = String(await guardOf(todo));
    const renamed = { ...todo, title: 'Another' };
    const reserved = await titlesAmong().changes(undefined, renamed);
    const others = titlesAmong(new Map([[guard, 'todo-2']]));
    const own = titlesAmong(new Map([[guard, todo.id]]));
    const released: Change = { kind: 'releaseTitle', id: guard, version: versionOf(todo.id).version };
    assert.deepEqual(await others.changes(todo, { ...todo, completed: true }), []);
    assert.deepEqual(await others.changes(todo, undefined), []);
    for (const change of ['changes', 'tolerantChanges'] as const) {
      assert.deepEqual(await others[change](todo, renamed), reserved, change);
      assert.deepEqual(await own[change](todo, renamed), [released, ...reserved], change);
    }
  });
});
