import { onSchedule } from 'firebase-functions/scheduler';
import { app } from '../../app.ts';
import { region } from '../../config.ts';

/** Every minute: releases lapsed leases and marks agents offline that went away. */
export const sweep = onSchedule({ schedule: 'every 1 minutes', region, maxInstances: 1 }, () =>
  app().sweep.run(),
);
