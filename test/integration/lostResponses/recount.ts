/** Compares counters with the documents that they count. */
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { COLLECTIONS } from '../../../functions/src/kernel/firestore/paths.ts';
import { taskFromDocument } from '../../../functions/src/toolsets/coordination/rules/task.ts';
import { countedBy } from '../../../functions/src/toolsets/coordination/rules/taskChanges.ts';
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
  const values = tasks.docs.map((task) => taskFromDocument(task.data()));
  const found = new Map(Object.entries({ ...countedBy([], values), discoveries: discoveries.size }));
  const { counts, mostLate: may_be_late, mostBlocked: may_be_blocked } = counters;
  return Object.entries({ ...counts, may_be_late, may_be_blocked }).flatMap(([name, count]) => {
    const actual = found.get(name) ?? 0;
    return count === actual ? [] : [`${name}: counted ${count}, found ${actual}`];
  });
}
