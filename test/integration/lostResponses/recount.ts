/** Compares counters with the documents that they count. */
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { COLLECTIONS } from '../../../functions/src/kernel/firestore/paths.ts';
import type { Team } from '../coordination/team.ts';

/** Returns the counters that differ from the documents in the open session of the workspace. */
export async function recount({ app, workspace }: Team, database = firestore()): Promise<readonly string[]> {
  const open = await app.coordination.ports.sessions.current(workspace);
  if (open === undefined) return [];
  const session = open.session.id;
  const stored = (collection: string) => database.collection(collection).where('session', '==', session).get();
  const [{ counters }, tasks, discoveries] = await Promise.all([
    app.services.coordination.status(workspace),
    stored(COLLECTIONS.tasks),
    stored(COLLECTIONS.discoveries),
  ]);
  const found = new Map<string, number>([['discoveries', discoveries.size]]);
  for (const task of tasks.docs) {
    const status = String(task.get('status'));
    found.set(status, (found.get(status) ?? 0) + 1);
  }
  return Object.entries(counters.counts).flatMap(([name, count]) => {
    const actual = found.get(name) ?? 0;
    return count === actual ? [] : [`${name}: counted ${count}, found ${actual}`];
  });
}
