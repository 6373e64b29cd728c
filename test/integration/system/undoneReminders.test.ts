import assert from 'node:assert/strict';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { AccessFixture } from '../access/fixture.ts';
import { answer, call } from '../coordination/calls.ts';

const [DUE, SET] = ['2099-01-01T10:00:00.000Z', '2098-06-01T10:00:00.000Z'];

describe('undo of reminders', () => {
  let fixture: AccessFixture;
  let ada: Principal;
  let id: string;

  beforeEach(async () => {
    fixture = new AccessFixture();
    await fixture.arrive('ada', 'leader');
    ada = await fixture.person('ada');
    id = Object(await ask('todo_add_task', { title: 'Milk', due_date: DUE })).task.id;
  });

  const ask = (tool: string, args: JsonObject): Promise<JsonObject> => {
    fixture.pass(1);
    return answer(fixture, tool, args, ada);
  };

  const latest = async (): Promise<string> => Object(await ask('system_getAudit', { limit: 1 })).events[0].event_id;

  const undoLatest = async () => ask('system_undo', { event_id: await latest() });

  const remindsAt = async (): Promise<readonly string[]> =>
    Object(await ask('todo_list_reminders', { upcoming: false })).reminders.map(
      ({ remind_at }: JsonObject) => remind_at,
    );

  it('restores a reminder that was set, snoozed or deleted', async () => {
    const standard = await remindsAt();
    assert.equal(standard.length, 1);
    await ask('todo_set_reminder', { task_id: id, remind_at: SET });
    await undoLatest();
    assert.deepEqual(await remindsAt(), standard);
    await ask('todo_snooze_reminder', { reminder_id: id, minutes: 30 });
    assert.notDeepEqual(await remindsAt(), standard);
    await undoLatest();
    assert.deepEqual(await remindsAt(), standard);
    await ask('todo_delete_reminder', { reminder_id: id });
    assert.deepEqual(await remindsAt(), []);
    await undoLatest();
    assert.deepEqual(await remindsAt(), standard);
    await undoLatest();
    assert.deepEqual(await remindsAt(), [], 'an undo can be undone, too');
  });

  it('deletes a reminder if the to-do had none before', async () => {
    await ask('todo_delete_reminder', { reminder_id: id });
    await ask('todo_set_reminder', { task_id: id, remind_at: SET });
    await undoLatest();
    assert.deepEqual(await remindsAt(), []);
  });

  it('is rejected for a reminder that has changed since, or whose to-do is completed', async () => {
    await ask('todo_set_reminder', { task_id: id, remind_at: SET });
    const first = await latest();
    await ask('todo_snooze_reminder', { reminder_id: id, minutes: 30 });
    assert.match(await refusal(first), /remind_at.*todo_snooze_reminder/);
    await ask('todo_delete_reminder', { reminder_id: id });
    const deleted = await latest();
    await ask('todo_complete_task', { task_id: id });
    assert.match(await refusal(deleted), /its to-do is not open/);
    assert.deepEqual(await remindsAt(), []);
  });

  async function refusal(event_id: string): Promise<string> {
    const { structuredContent, isError } = await call(fixture, 'system_undo', { event_id }, ada);
    assert.ok(isError, JSON.stringify(structuredContent));
    return Object(structuredContent['error']).message;
  }
});
