/** An instance that executes a run and is killed at a crash point of one step. Not a test file. */

import { compose } from '../../../functions/src/composition/compose.ts';
import { externalServicesOf } from '../../support/externalServices.ts';
import { type CrashPoint, crashing } from './crashPoint.ts';
import { agentsAt } from './fixture.ts';

const crashPoint: CrashPoint = JSON.parse(process.argv[2] ?? '{}');

const { services, kernel } = compose(
  externalServicesOf({
    clock: { now: () => new Date() },
    hosted: () => agentsAt(crashPoint.modelsUrl),
    dispatch: { dispatch: async () => undefined },
  }),
);

crashing(kernel.store, crashPoint, () => {
  process.kill(process.pid, 'SIGKILL');
  // Blocks the process until the signal arrives, so that no other code runs.
  for (;;);
});

await services.runExecution.deliver({ runId: crashPoint.runId });
