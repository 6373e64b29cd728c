/** `npm run clock` moves the clock of all functions in the emulator, so no other test may run concurrently. */
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { Person } from '../integration/spine/person.ts';
import { tick } from './support/emulator.ts';
import { eventually } from './support/waiting.ts';

const HOUR = 3600;

describe('the simulated clock of the functions', () => {
  const file = String(process.env['MUSTER_CLOCK_FILE']);

  afterEach(() => rmSync(file, { force: true }));

  it('causes due reminders to be sent when a person advances the clock', async () => {
    const person = new Person();
    person.now = new Date();
    const id = await person.remind(person.after(2 * HOUR));
    await tick('sendReminders');
    assert.deepEqual(await person.sentReminders(id), []);
    writeFileSync(file, String(2 * HOUR * 1000 + 1000));
    await tick('sendReminders');
    const [sending] = await person.sentReminders(id);
    assert.ok(sending);
    await eventually('the notification is shown', async () => {
      return JSON.stringify(await person.list('notifications')) === JSON.stringify([sending]) || undefined;
    });
  });
});
