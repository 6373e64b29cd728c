/** Rebuilds, from `people` and `access`, the data with which the Realtime Database's rules decide access. */
import { personMirror } from '../../functions/src/access/store/accessMirror.ts';
import { COLLECTIONS } from '../../functions/src/kernel/firestore/paths.ts';
import { nameOfKey } from '../../functions/src/kernel/ids.ts';
import { ACCESS_PEOPLE, ACCESS_WORKSPACES, personAccessPath } from '../../functions/src/kernel/realtime/database.ts';
import { forEach, pagesOf } from '../operator/documents.ts';
import { childrenOf, isStoredAs, Progress, type Rebuilding } from './rebuilding.ts';

export async function rebuildAccess(rebuilding: Rebuilding): Promise<void> {
  const { database, realtime, ports, services, isDry } = rebuilding;
  // First, check the people in the Realtime Database, because some may have lost their access in Firestore.
  const known = new Progress('People in the access data of the Realtime Database', rebuilding);
  for await (const page of childrenOf(realtime, ACCESS_PEOPLE))
    await forEach(page, async ({ key }) => {
      if (key !== null) known.add(await mirrorAgain(rebuilding, nameOfKey(key)));
    });
  known.end();

  const people = new Progress('People with a role', rebuilding);
  for await (const page of pagesOf(database.collection(COLLECTIONS.people).select()))
    await forEach(page, async ({ id }) => people.add(await mirrorAgain(rebuilding, id)));
  people.end();

  const workspaces = new Progress('Workspace lists', rebuilding);
  const mirrored = await realtime.ref(ACCESS_WORKSPACES).get();
  const isRight = isStoredAs(mirrored, await ports.people.workspaces());
  if (!isRight && !isDry) await services.mirrorWorkspaces();
  workspaces.add(!isRight);
  workspaces.end();
}

/** Rebuilds one person's access data. @returns whether the data was wrong */
async function mirrorAgain({ realtime, ports, services, isDry }: Rebuilding, uid: string): Promise<boolean> {
  const wanted = await personMirror(ports.people, uid);
  if (isStoredAs(await realtime.ref(personAccessPath(uid)).get(), wanted)) return false;
  if (!isDry) await services.mirrorPerson(uid);
  return true;
}
