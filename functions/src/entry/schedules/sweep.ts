import { onSchedule } from 'firebase-functions/scheduler';
import { app } from '../../app.ts';
import { region } from '../../config.ts';

/** Every minute: releases lapsed leases, marks agents offline that went away, and has runs go on that nobody has. */
export const sweep = onSchedule(
  { schedule: 'every 1 minutes', region, maxInstances: 1, timeoutSeconds: 540 },
  async () => void (await app().sweep.run()),
);
