import { z } from 'zod';
import { defineTool, reminderId, setAnswer, setShape, writing } from './todoAnswers.ts';

const MINUTE = 60_000;

const MOST_MINUTES = 40_320; // four weeks

export const snoozeReminder = defineTool({
  name: 'snooze_reminder',
  title: 'Snooze a reminder',
  description: 'Reminds again some minutes from now, also of what was already sent.',
  input: z.strictObject({
    reminder_id: reminderId,
    minutes: z.int().min(1).max(MOST_MINUTES).default(10).describe('From now'),
  }),
  output: setShape,
  ...writing({ destructiveHint: false, idempotentHint: false }),
  example: { reminder_id: 'todo-xxx-001', minutes: 30 },
  answer: setAnswer,
  handler: ({ services, principal, recordAnswer }, { reminder_id, minutes }) =>
    services.reminders.snooze(principal.owner_uid, reminder_id, minutes * MINUTE, recordAnswer),
});
