/** The tools for reminders, and the effects of to-do tools on reminders. */
import assert from 'node:assert/strict';
import { z } from 'zod';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { preferencesPath } from '../../../functions/src/kernel/firestore/paths.ts';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { sendReminders } from '../../../functions/src/toolsets/todo/rules/reminders/reminders.ts';
import { answer, call } from '../coordination/calls.ts';
import { silent, Team } from '../coordination/team.ts';

const HOUR = 3600;

const listed = z.object({
  reminders: z.array(z.looseObject({ id: z.string(), remind_at: z.string(), sent: z.boolean() })),
  total: z.number(),
  next_cursor: z.string().optional(),
});

describe('reminder tools', () => {
  let team: Team;

  beforeEach(() => {
    team = new Team();
  });

  const at = (seconds: number): string => new Date(team.now.getTime() + seconds * 1000).toISOString();
  const use = (tool: string, given: JsonObject): Promise<JsonObject> => answer(team, `todo_${tool}`, given);
  const list = async (given: JsonObject = {}) => listed.parse(await use('list_reminders', given));

  async function refusal(tool: string, given: JsonObject, principal = team.leader): Promise<unknown> {
    const { structuredContent, isError } = await call(team, `todo_${tool}`, given, principal);
    assert.equal(isError, true, JSON.stringify(structuredContent));
    return Object(structuredContent['error']).code;
  }

  /** @param due seconds until the due date; if undefined, the to-do has no due date */
  async function add(due?: number, title = `Task ${Math.random()}`): Promise<string> {
    const { task } = await use('add_task', { title, ...(due !== undefined && { due_date: at(due) }) });
    return z.looseObject({ id: z.string() }).parse(task).id;
  }

  const send = () => sendReminders({ ...team.app.todo.ports, log: silent });
  const reminder = async (id: string) => (await team.app.todo.ports.reminders.find(id))?.value;

  it('list upcoming reminders with their total number, the next reminder first', async () => {
    const [later, next] = [await add(3 * HOUR), await add(2 * HOUR)];
    await add();
    const { reminders, total } = await list();
    const rows = reminders.map(({ id, remind_at, sent }) => [id, remind_at, sent]);
    assert.deepEqual(rows, [
      [next, at(HOUR), false],
      [later, at(2 * HOUR), false],
    ]);
    assert.equal(total, 2);
  });

  it('list all reminders in pages, newest first', async () => {
    const first = await add(2 * HOUR);
    team.pass(HOUR);
    await send();
    const second = await add(2 * HOUR);
    const ids = (await list()).reminders.map(({ id }) => id);
    assert.deepEqual(ids, [second]);
    const page = await list({ upcoming: false, limit: 1 });
    assert.deepEqual([page.reminders.map(({ id }) => id), page.total], [[second], 2]);
    const rest = await list({ upcoming: false, limit: 1, cursor: String(page.next_cursor) });
    assert.deepEqual(
      [rest.reminders.map(({ id, sent }) => [id, sent]), rest.next_cursor],
      [[[first, true]], undefined],
    );
  });

  it('set a reminder for to-dos with and without a due date', async () => {
    for (const id of [await add(5 * HOUR), await add()]) {
      await use('set_reminder', { task_id: id, remind_at: at(60) });
      assert.deepEqual((await reminder(id))?.remind_at, new Date(at(60)));
    }
  });

  it('reject past times, completed to-dos, and to-dos and reminders of other people', async () => {
    const id = await add(5 * HOUR);
    assert.equal(await refusal('set_reminder', { task_id: id, remind_at: at(-61) }), 'VALIDATION_ERROR');
    const other = { ...team.principal('other', 'leader'), owner_uid: 'somebody-else' };
    const set = { task_id: id, remind_at: at(60) };
    assert.equal(await refusal('set_reminder', set, other), 'TASK_NOT_FOUND');
    for (const tool of ['snooze_reminder', 'delete_reminder'])
      assert.equal(await refusal(tool, { reminder_id: id }, other), 'NOT_FOUND');
    await use('complete_task', { task_id: id });
    assert.equal(await refusal('set_reminder', set), 'CONFLICT');
  });

  it('snooze upcoming reminders and reminders that were already sent', async () => {
    const id = await add(2 * HOUR);
    await use('snooze_reminder', { reminder_id: id, minutes: 5 });
    assert.deepEqual((await reminder(id))?.remind_at, new Date(at(300)));
    team.pass(300);
    await send();
    assert.equal((await reminder(id))?.sent, true);
    await use('snooze_reminder', { reminder_id: id });
    const snoozed = await reminder(id);
    assert.deepEqual([snoozed?.remind_at, snoozed?.sent, snoozed?.sent_at], [new Date(at(600)), false, undefined]);
    team.pass(600);
    await send();
    const history = await firestore().collection('events').where('task_id', '==', id).get();
    const sentReminders = history.docs.filter((each) => each.get('event_type') === 'reminder');
    assert.equal(sentReminders.length, 2);
  });

  it('delete a reminder but keep its to-do', async () => {
    const id = await add(2 * HOUR);
    await use('delete_reminder', { reminder_id: id });
    assert.equal(await reminder(id), undefined);
    assert.equal(await refusal('delete_reminder', { reminder_id: id }), 'NOT_FOUND');
    assert.ok(await team.app.todo.ports.todos.find(id));
  });

  it('return the first response to a repeated call with a key, and change nothing', async () => {
    const id = await add(2 * HOUR);
    const given = { reminder_id: id, minutes: 5, idempotency_key: 'snooze-1' };
    const first = await use('snooze_reminder', given);
    team.pass(60);
    assert.deepEqual(await use('snooze_reminder', given), first);
    assert.deepEqual((await reminder(id))?.remind_at, new Date(at(240)));
  });

  describe('reminders of a to-do', () => {
    it('move when the due date of the to-do changes', async () => {
      const id = await add(5 * HOUR);
      await use('set_task_due_date', { task_id: id, due_date: at(8 * HOUR) });
      assert.deepEqual((await reminder(id))?.remind_at, new Date(at(7 * HOUR)));
    });

    it('are deleted when the to-do is completed or deleted, even without a due date', async () => {
      for (const tool of ['complete_task', 'delete_task']) {
        const id = await add();
        await use('set_reminder', { task_id: id, remind_at: at(60) });
        await use(tool, { task_id: id });
        assert.equal(await reminder(id), undefined, tool);
      }
    });

    it('are set with the lead time in the preferences of the owner', async () => {
      const preferences = firestore().doc(preferencesPath(team.leader.owner_uid));
      await preferences.set({ reminder_lead_minutes: 15 });
      const id = await add(2 * HOUR);
      assert.deepEqual((await reminder(id))?.remind_at, new Date(at(2 * HOUR - 900)));
    });
  });
});
