/** Undo of changes to to-dos in any order. Afterwards, each to-do can still be completed, deleted and undone. */
import assert from 'node:assert/strict';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { COLLECTIONS, todoPath } from '../../../functions/src/kernel/firestore/paths.ts';
import { canonicalJson, type JsonObject } from '../../../functions/src/kernel/json.ts';
import type { RecurringTask } from '../../../functions/src/toolsets/todo/rules/recurring/recurrenceRule.ts';
import {
  FREQUENCIES,
  recurringTaskFromDocument,
} from '../../../functions/src/toolsets/todo/rules/recurring/recurrenceRule.ts';
import { defaultOrNightly } from '../../support/nightly.ts';
import { call } from '../coordination/calls.ts';
import { Team } from '../coordination/team.ts';

const DAY = 86_400_000;

/** How many times each event is undone and redone. */
const ROUNDS = 3;

/** Changes to the next occurrence. Each is made before the test undoes the end of the previous occurrence. */
const FATES: Readonly<Record<string, (home: Home, next: string) => Promise<unknown>>> = {
  prioritized: (home, next) => home.done('todo_set_task_priority', { task_id: next, priority: 'HIGH' }),
  renamed: (home, next) => home.done('todo_update_task', { task_id: next, title: 'Another' }),
  completed: (home, next) => home.done('todo_complete_task', { task_id: next }),
  deleted: (home, next) => home.done('todo_delete_task', { task_id: next }),
  'completed by a client': (home, next) => home.write(next, { completed: true }),
  untouched: async () => undefined,
};

interface Course {
  readonly fate: string;
  readonly end: 'complete_task' | 'delete_task' | 'client';
  readonly frequency: (typeof FREQUENCIES)[number];
  readonly by: 'event' | 'agent';
}

const ALL_COURSES: readonly Course[] = Object.keys(FATES).flatMap((fate) =>
  (['complete_task', 'delete_task', 'client'] as const).flatMap((end) =>
    FREQUENCIES.flatMap((frequency) => (['event', 'agent'] as const).map((by) => ({ fate, end, frequency, by }))),
  ),
);

/** The default run tests every thirteenth course. These courses cover every value of each field. */
const COURSES = defaultOrNightly(
  ALL_COURSES.filter((_, index) => index % 13 === 0),
  { night: ALL_COURSES },
);

/** Ends an occurrence, changes the next one, and undoes the end. Then completes and deletes every to-do. */
async function take({ fate, end, frequency, by }: Course): Promise<void> {
  const home = new Home();
  const { recurring, first } = await home.begin({ frequency });
  home.team.pass(10);
  const since = home.team.now.toISOString();
  if (end === 'client') await home.write(first, { completed: true });
  else await home.done(`todo_${end}`, { task_id: first });
  const event_id = await home.latestEvent();
  const [next] = (await home.open()).filter((id) => id !== first);
  await FATES[fate]?.(home, String(next));
  if (by === 'agent') await home.call('system_undo', { agent_id: home.agentId, since });
  else if (end !== 'client') await home.call('system_undo', { event_id });
  const after = `${frequency} ${fate} ${end} ${by}`;
  await home.requireSound(after);
  await home.requireUsable(after);
  assert.equal((await home.recurringTask(recurring)).ended_at, undefined);
}

/** The to-dos of one person. The trigger for to-dos is called after each write. */
class Home {
  readonly team = new Team();
  private readonly documents = new Map<string, JsonObject>();

  get agentId(): string {
    return String(this.team.leader.agent_id);
  }

  inDays(days: number): string {
    return new Date(this.team.now.getTime() + days * DAY).toISOString();
  }

  /** @returns the response, or the reason of the error; a conflict with another write fails the test */
  async call(tool: string, args: JsonObject): Promise<JsonObject | string> {
    this.team.pass(1);
    const { structuredContent, isError } = await call(this.team, tool, args);
    await this.followWrites();
    if (!isError) return structuredContent;
    const { error } = Object(structuredContent);
    const { code, details, data } = Object(error);
    const reason = String(Object(details ?? data).reason ?? code);
    assert.doesNotMatch(
      `${reason} ${code}`,
      /CONTENTION|INTERNAL|FIREBASE/,
      `${tool} ${JSON.stringify(args)}: ${JSON.stringify(structuredContent)}`,
    );
    return reason;
  }

  async done(tool: string, args: JsonObject): Promise<JsonObject> {
    const answered = await this.call(tool, args);
    assert.ok(typeof answered === 'object', `${tool} ${JSON.stringify(args)}: ${String(answered)}`);
    return answered;
  }

  async add(args: JsonObject): Promise<string> {
    return Object((await this.done('todo_add_task', args))['task']).id;
  }

  async begin(args: JsonObject): Promise<{ readonly recurring: string; readonly first: string }> {
    const draft = { title: 'Standup', frequency: 'DAILY', start_date: this.inDays(1), ...args };
    const started = await this.done('todo_create_recurring_task', draft);
    return { recurring: Object(started['recurring_task']).id, first: Object(started['first_occurrence']).id };
  }

  /** Changes a to-do directly, as a Firebase client does. */
  async write(id: string, fields: JsonObject): Promise<void> {
    await firestore().doc(todoPath(id)).update(fields);
    await this.followWrites();
  }

  /** Calls the trigger for each document that has changed. */
  private async followWrites(): Promise<void> {
    for (let more = true; more; ) {
      const now = new Map((await this.all(COLLECTIONS.todos)).map((todo) => [String(todo['id']), todo]));
      const changed = [...new Set([...now.keys(), ...this.documents.keys()])].filter(
        (id) => JSON.stringify(now.get(id)) !== JSON.stringify(this.documents.get(id)),
      );
      for (const id of changed) {
        const before = this.documents.get(id);
        const found = now.get(id);
        if (found) this.documents.set(id, found);
        else this.documents.delete(id);
        await this.team.app.services.repairTodo(id, before);
      }
      more = changed.length > 0;
    }
  }

  private async all(collection: string): Promise<readonly JsonObject[]> {
    const { leader } = this.team;
    const found = await firestore().collection(collection).where('owner_uid', '==', leader.owner_uid).get();
    return found.docs.map((document) => document.data());
  }

  async todos(): Promise<readonly JsonObject[]> {
    return this.all(COLLECTIONS.todos);
  }

  async open(): Promise<readonly string[]> {
    const all = await this.todos();
    return all.filter(({ completed }) => completed === false).map(({ id }) => String(id));
  }

  async recurringTasks(): Promise<readonly RecurringTask[]> {
    return (await this.all(COLLECTIONS.recurringTasks)).map(recurringTaskFromDocument);
  }

  async recurringTask(id: string): Promise<RecurringTask> {
    const found = (await this.recurringTasks()).find((one) => one.id === id);
    return found ?? assert.fail(`${id} not found`);
  }

  async latestEvent(): Promise<string> {
    const { events } = Object(await this.done('system_getAudit', { limit: 1 }));
    return events[0].event_id;
  }

  /** Returns the to-dos, reminders and recurring tasks, without fields that an undo does not restore. */
  async state(): Promise<unknown> {
    const [todos, reminders, recurring] = await Promise.all(
      [COLLECTIONS.todos, COLLECTIONS.reminders, COLLECTIONS.recurringTasks].map((one) => this.all(one)),
    );
    const shown = (all: readonly JsonObject[] = []) =>
      all
        .map(({ restored, index, recorded, ended_at, ...rest }) => canonicalJson({ ...rest, ended: ended_at !== null }))
        .sort();
    const living = recurring?.filter(({ ended }) => ended === false);
    return [shown(todos), shown(reminders), shown(living)];
  }

  /** Asserts that each continuing recurring task has an open occurrence, and that only open to-dos have reminders. */
  async requireSound(after: string): Promise<void> {
    const open = await this.open();
    for (const { id, latest_on: latestOn, ended_at: endedAt } of await this.recurringTasks())
      assert.ok(endedAt || open.includes(`${id}_${latestOn}`), `${after}: ${id} has no open occurrence`);
    for (const { id } of await this.all(COLLECTIONS.reminders))
      assert.ok(open.includes(String(id)), `${after}: a reminder of ${String(id)} is left`);
  }

  /** Asserts that each to-do can be completed and deleted, and that both can be undone and redone. */
  async requireUsable(after: string): Promise<void> {
    for (const { id, completed } of await this.todos()) {
      const task_id = String(id);
      if (completed === false) {
        await this.done('todo_complete_task', { task_id });
        await this.requireRounds(`${after}; complete ${task_id}`);
      }
      if (await this.team.app.todo.ports.todos.find(task_id)) {
        await this.done('todo_delete_task', { task_id });
        await this.requireRounds(`${after}; delete ${task_id}`);
      }
      await this.requireSound(`${after}; used ${task_id}`);
    }
  }

  private async requireRounds(after: string): Promise<void> {
    for (let round = 0; round < 2; round++) {
      const undone = await this.call('system_undo', { event_id: await this.latestEvent() });
      // Another to-do may have the title and due date of this to-do by now.
      if (undone === 'DUPLICATE_TASK') return;
      assert.ok(typeof undone === 'object', `${after}, round ${round}: ${String(undone)}`);
      const reasons: unknown = undone['refused'];
      assert.deepEqual(reasons, [], `${after}, round ${round}`);
    }
  }
}

describe('undo of to-do changes', function () {
  this.timeout('8m');

  for (const fate of Object.keys(FATES))
    it(`leaves a recurring to-do that can still be completed if its next occurrence was ${fate}`, async () => {
      for (const course of COURSES.filter((one) => one.fate === fate)) await take(course);
    });

  it('restores a recurring to-do with an open occurrence if the earlier one was completed', async () => {
    const home = new Home();
    const { recurring, first } = await home.begin({});
    await home.done('todo_delete_recurring_task', { recurring_task_id: recurring });
    const event = await home.latestEvent();
    await home.done('todo_complete_task', { task_id: first });
    await home.done('system_undo', { event_id: event });
    await home.requireSound('brought back');
    await home.requireUsable('brought back');
  });

  it('does not undo the creation of a recurring to-do after an update of the to-do', async () => {
    const home = new Home();
    const { recurring } = await home.begin({});
    const event = await home.latestEvent();
    await home.done('todo_update_recurring_task', { recurring_task_id: recurring, title: 'Another' });
    const refused = await home.call('system_undo', { event_id: event });
    assert.equal(refused, 'CHANGED_SINCE');
    await home.requireSound('refused');
    assert.equal((await home.open()).length, 1);
  });

  it('keeps a reminder that was set before the to-do had a due date', async () => {
    const home = new Home();
    const id = await home.add({ title: 'Visa' });
    await home.done('todo_set_reminder', { task_id: id, remind_at: home.inDays(1) });
    const before = await home.state();
    for (const tool of ['todo_set_task_due_date', 'todo_update_task']) {
      await home.done(tool, { task_id: id, due_date: home.inDays(30) });
      await home.done('system_undo', { event_id: await home.latestEvent() });
      assert.deepEqual(await home.state(), before, tool);
    }
    await home.write(id, { priority: 'HIGH' });
    const { reminders } = await home.done('todo_list_reminders', {});
    assert.equal(Object(reminders).length, 1);
  });

  it('can be undone and redone repeatedly for each to-do tool that writes', async () => {
    const home = new Home();
    const due_date = home.inDays(2);
    const add = (title: string, more: JsonObject = {}) => home.add({ title, due_date, ...more });
    const completed = async (title: string) => {
      const id = await add(title);
      await home.done('todo_complete_task', { task_id: id });
      return id;
    };
    const reminder_id = async (title: string) => ({ reminder_id: await add(title) });
    const task_id = async (title: string) => ({ task_id: await add(title) });
    const recurring_task_id = async () => ({ recurring_task_id: (await home.begin({})).recurring });
    const calls: Readonly<Record<string, () => Promise<JsonObject>>> = {
      todo_add_task: async () => ({ title: 'Added', due_date }),
      todo_update_task: async () => ({ ...(await task_id('Update')), title: 'Updated', due_date: home.inDays(3) }),
      todo_complete_task: async () => ({ task_id: (await home.begin({ title: 'Complete' })).first }),
      todo_reopen_task: async () => {
        const { first } = await home.begin({ title: 'Reopen' });
        await home.done('todo_complete_task', { task_id: first });
        return { task_id: first };
      },
      todo_delete_task: async () => ({ task_id: (await home.begin({ title: 'Delete' })).first }),
      todo_set_task_priority: async () => ({ ...(await task_id('Rank')), priority: 'HIGH' }),
      todo_set_task_due_date: async () => ({ ...(await task_id('Move')), due_date: home.inDays(4) }),
      todo_add_task_tags: async () => ({ ...(await task_id('Tag')), tags: ['one'] }),
      todo_create_recurring_task: async () => ({ title: 'Created', frequency: 'WEEKLY', start_date: home.inDays(1) }),
      todo_update_recurring_task: async () => ({
        ...(await recurring_task_id()),
        title: 'Renamed',
        timezone: 'America/New_York',
        frequency: 'MONTHLY',
      }),
      todo_delete_recurring_task: recurring_task_id,
      todo_set_reminder: async () => ({ ...(await task_id('Remind')), remind_at: home.inDays(1) }),
      todo_snooze_reminder: async () => ({ ...(await reminder_id('Snooze')), minutes: 100 }),
      todo_delete_reminder: () => reminder_id('Unremind'),
    };
    for (const [tool, args] of Object.entries(calls)) {
      const given = await args();
      const before = await home.state();
      await home.done(tool, given);
      const after = await home.state();
      for (let round = 0; round < ROUNDS; round++)
        for (const expected of [before, after]) {
          const undone = await home.done('system_undo', { event_id: await home.latestEvent() });
          assert.deepEqual(undone['refused'], [], `${tool}, round ${round}`);
          assert.deepEqual(await home.state(), expected, `${tool}, round ${round}`);
        }
    }
    await completed('Done');
    await home.requireSound('after all tools');
    await home.requireUsable('after all tools');
  });
});
