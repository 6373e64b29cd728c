/** An instance that executes a run and is killed at a boundary of one of its steps. Not a spec file. */
import { compose } from '../../../functions/src/app.ts';
import type { Change } from '../../../functions/src/kernel/commit.ts';
import { boundaryOf, type Doom } from './doom.ts';
import { agentsAt } from './orchestra.ts';

const doom: Doom = JSON.parse(process.argv[2] ?? '{}');

const { ports, services } = compose({
  clock: { now: () => new Date() },
  hosted: () => agentsAt(doom.modelsUrl),
  dispatch: { dispatch: async () => undefined },
});

const { store } = ports;
const commit = store.commit.bind(store);
store.commit = async (changes: readonly Change[], settled) => {
  if (boundaryOf('before', changes, doom.step) === doom.at) die();
  await commit(changes, settled);
  if (boundaryOf('after', changes, doom.step) === doom.at) die();
};

await services.runExecution.deliver({ runId: doom.runId });

function die(): never {
  process.kill(process.pid, 'SIGKILL');
  // The signal is on its way: nothing more is done.
  for (;;);
}
