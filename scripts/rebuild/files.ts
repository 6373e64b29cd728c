/**
 * Rebuilds the reservations of files from the held tasks. A document is written only if it has not changed since it was
 * read, before the tasks. Each commit that gives or takes a task with files changes both, so that none is lost.
 */

import { StaleWriteError } from '../../functions/src/kernel/commit.ts';
import { retryOnConflict } from '../../functions/src/kernel/concurrency.ts';
import { COLLECTIONS, heldFilesPath } from '../../functions/src/kernel/firestore/paths.ts';
import { STALE_CODES, statusCode } from '../../functions/src/kernel/firestore/verifiedCommit.ts';
import { canonicalJson } from '../../functions/src/kernel/json.ts';
import { readGlobs } from '../../functions/src/toolsets/coordination/rules/files/globs.ts';
import {
  type HeldFiles,
  heldFilesFromDocument,
  heldFilesToDocument,
} from '../../functions/src/toolsets/coordination/rules/files/heldFiles.ts';
import { entryOf } from '../../functions/src/toolsets/coordination/rules/files/reserving.ts';
import { type Task, taskFromDocument } from '../../functions/src/toolsets/coordination/rules/task.ts';
import { HELD } from '../../functions/src/toolsets/coordination/store/queries.ts';
import { forEach, pagesOf, readable } from '../operator/documents.ts';
import { Progress, type Rebuilding, unread } from './rebuilding.ts';

export async function rebuildFiles(rebuilding: Rebuilding): Promise<void> {
  const { database } = rebuilding;
  const reservations = new Progress('Reservations of files', rebuilding);
  const sessions = new Set<string>();
  for await (const page of pagesOf(database.collection(COLLECTIONS.heldFiles).select()))
    for (const { id } of page) sessions.add(id);
  const held = database.collection(COLLECTIONS.tasks).where('status', 'in', HELD).select('session', 'files_held');
  for await (const page of pagesOf(held))
    for (const task of page) if (task.get('files_held') === true) sessions.add(String(task.get('session')));
  await forEach([...sessions], async (session) => reservations.add(await rebuildSession(rebuilding, session)));
  reservations.end();
}

/** Corrects the reservations of a session. @returns whether they were wrong */
export function rebuildSession(
  { database, ports, isDry, say }: Pick<Rebuilding, 'database' | 'ports' | 'isDry' | 'say'>,
  session: string,
): Promise<boolean> {
  const document = database.doc(heldFilesPath(session));
  const ofSession = database.collection(COLLECTIONS.tasks).where('session', '==', session);
  return retryOnConflict(ports.randomness, async () => {
    const stored = await document.get();
    const former = stored.exists ? readableFiles(stored.data()) : undefined;
    const held: Task[] = [];
    for await (const page of pagesOf(ofSession.where('status', 'in', HELD)))
      held.push(...readable(page, taskFromDocument, unread(say)).map(({ value }) => value));
    const tasks = Object.fromEntries(
      held.filter(({ files_held, claim }) => files_held && claim).map((task) => [task.id, entryAgain(task, former)]),
    );
    const isWrong = canonicalJson(tasks) !== canonicalJson(former?.tasks ?? (stored.exists ? undefined : {}));
    if (isDry || !isWrong) return isWrong;
    const data = heldFilesToDocument({ workspace: held[0]?.workspace ?? former?.workspace ?? '', tasks });
    const { updateTime } = stored;
    const batch = database.batch();
    if (updateTime === undefined) batch.create(document, data);
    else batch.update(document, data, { lastUpdateTime: updateTime });
    await batch.commit().catch((error: unknown) => {
      throw STALE_CODES.includes(statusCode(error)) ? new StaleWriteError({ cause: error }) : error;
    });
    return true;
  });
}

/** Returns the stored entry of the same claim, with the files that its runner reported; otherwise a new one. */
function entryAgain(task: Task, former: HeldFiles | undefined) {
  const known = former?.tasks[task.id];
  return known?.claim_epoch === task.claim_epoch ? known : entryOf(task, readGlobs(task.context.files).globs);
}

function readableFiles(data: unknown): HeldFiles | undefined {
  try {
    return heldFilesFromDocument(data);
  } catch {
    return undefined;
  }
}
