import { onSchedule } from 'firebase-functions/scheduler';
import { app } from '../app.ts';
import { region } from '../config.ts';

/**
 * Every minute: releases lapsed leases, marks agents offline that went away, has runs go on that nobody has, and
 * cancels what runs wait for in archived sessions.
 */
export const sweep = onSchedule(
  { schedule: 'every 1 minutes', region, maxInstances: 1, timeoutSeconds: 540 },
  async () => void (await app().sweep.run()),
);

/** Every minute: sends the reminders that are due. */
export const sendReminders = onSchedule(
  { schedule: 'every 1 minutes', region, maxInstances: 1, timeoutSeconds: 540 },
  () => app().services.reminderSending.run(),
);
