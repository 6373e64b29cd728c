/** An instance that executes a run and is killed at a crash point of one step. Not a spec file. */

import { compose } from '../../../functions/src/composition/compose.ts';
import { outsideOf } from '../../support/outside.ts';
import { type Doom, doomed } from './doom.ts';
import { agentsAt } from './orchestra.ts';

const doom: Doom = JSON.parse(process.argv[2] ?? '{}');

const { services, kernel } = compose(
  outsideOf({
    clock: { now: () => new Date() },
    hosted: () => agentsAt(doom.modelsUrl),
    dispatch: { dispatch: async () => undefined },
  }),
);

doomed(kernel.store, doom, () => {
  process.kill(process.pid, 'SIGKILL');
  // Nothing else may run until the signal arrives.
  for (;;);
});

await services.runExecution.deliver({ runId: doom.runId });
