/** Rebuilds the requested kinds of derived data, with the same code as the functions. */
import { compose } from '../../functions/src/composition/compose.ts';
import { externalServices } from '../../functions/src/composition/externalServices.ts';
import { firestore } from '../../functions/src/kernel/firestore/client.ts';
import { reachedRealtime } from '../operator/realtime.ts';
import { rebuildAccess } from './access.ts';
import type { Kind } from './arguments.ts';
import { rebuildCounters } from './counters.ts';
import { rebuildFiles } from './files.ts';
import { rebuildPresence } from './presence.ts';
import { rebuildQueue } from './queue.ts';
import type { Rebuilding } from './rebuilding.ts';

const REBUILDS: Readonly<Record<Kind, (rebuilding: Rebuilding) => Promise<void>>> = {
  access: rebuildAccess,
  presence: rebuildPresence,
  counters: rebuildCounters,
  files: rebuildFiles,
  queue: rebuildQueue,
};

export async function rebuild(
  kinds: readonly Kind[],
  { isDry, say }: Pick<Rebuilding, 'isDry' | 'say'>,
): Promise<void> {
  const { kernel, coordination, system, services } = compose(externalServices());
  const rebuilding = {
    database: firestore(),
    realtime: await reachedRealtime(),
    ports: { ...coordination.ports, store: kernel.store, sweepRecord: system.ports.sweepRecord },
    services,
    isDry,
    say,
  };
  for (const kind of kinds) await REBUILDS[kind](rebuilding);
  say(isDry ? 'Dry run: nothing was changed.' : 'Done. This command can be repeated safely.');
}
