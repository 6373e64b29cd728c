import { onSchedule } from 'firebase-functions/scheduler';
import { app } from '../../app.ts';
import { region } from '../../config.ts';

/** Every minute: sends the reminders that are due. */
export const sendReminders = onSchedule(
  { schedule: 'every 1 minutes', region, maxInstances: 1, timeoutSeconds: 540 },
  () => app().services.reminderSending.run(),
);
