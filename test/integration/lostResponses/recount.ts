/** Compares counters and reservations with the documents that they count. */
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { COLLECTIONS, heldFilesPath } from '../../../functions/src/kernel/firestore/paths.ts';
import { heldFilesFromDocument } from '../../../functions/src/toolsets/coordination/rules/files/heldFiles.ts';
import { taskFromDocument } from '../../../functions/src/toolsets/coordination/rules/task.ts';
import { countedBy } from '../../../functions/src/toolsets/coordination/rules/taskChanges.ts';
import type { Team } from '../coordination/team.ts';

/** Returns the counters and reservations that differ from the documents in the open session of the workspace. */
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
  const wrong = Object.entries({ ...counts, may_be_late, may_be_blocked }).flatMap(([name, count]) => {
    const actual = found.get(name) ?? 0;
    return count === actual ? [] : [`${name}: counted ${count}, found ${actual}`];
  });
  const snapshot = await database.doc(heldFilesPath(session)).get();
  const held = snapshot.exists ? heldFilesFromDocument(snapshot.data()).tasks : {};
  const expected = values.filter(({ files_held }) => files_held).map(({ id, claim_epoch }) => `${id} ${claim_epoch}`);
  const booked = Object.entries(held).map(([id, { claim_epoch }]) => `${id} ${claim_epoch}`);
  return expected.sort().join() === booked.sort().join() ? wrong : [...wrong, `files: ${booked}, not ${expected}`];
}
