/**
 * Erasure in Firestore: deletes the documents that belong to a person, and replaces the person with a pseudonym in
 * shared documents. Reads every document, because any document can name the person.
 */
import {
  type CollectionReference,
  FieldPath,
  type Firestore,
  type Query,
  type QueryDocumentSnapshot,
} from '@google-cloud/firestore';
import { z } from 'zod';
import type { Composition } from '../../../functions/src/composition/compose.ts';
import { EVERYONE } from '../../../functions/src/identity/rules/credential.ts';
import { StaleWriteError } from '../../../functions/src/kernel/commit.ts';
import {
  ARCHIVE,
  COLLECTIONS,
  MEMBERS,
  TASK_LOGS,
  TASK_MESSAGES,
  TASK_RESULTS,
} from '../../../functions/src/kernel/firestore/paths.ts';
import { NOT_FOUND, STALE_CODES, statusCode } from '../../../functions/src/kernel/firestore/verifiedCommit.ts';
import { FREE_FORM_ROOTS } from '../../../functions/src/kernel/realtime/database.ts';
import { guardChanges } from '../../../functions/src/toolsets/todo/rules/duplicateGuard.ts';
import { removalId } from '../../../functions/src/toolsets/todo/rules/todoChanges.ts';
import { forEach, pagesOf } from '../../operator/documents.ts';
import type { Report } from './report.ts';
import type { Traces } from './traces.ts';

export interface Erasing {
  readonly database: Firestore;
  readonly ports: Composition['todo']['ports'];
  readonly traces: Traces;
  readonly report: Report;
  readonly isDry: boolean;
  /** Ids of the change logs of the person's subscriptions. The Realtime Database stores their events. */
  readonly logs: Set<string>;
}

/** Field that contains the owner of a document, by collection. */
const OWNED_BY: Readonly<Record<string, string>> = {
  [COLLECTIONS.todos]: 'owner_uid',
  [COLLECTIONS.events]: 'user_id',
  [COLLECTIONS.audit]: 'user_id',
  [COLLECTIONS.reminders]: 'owner_uid',
  [COLLECTIONS.recurringTasks]: 'owner_uid',
  [COLLECTIONS.workflows]: 'owner_uid',
  [COLLECTIONS.grants]: 'owner_uid',
  [COLLECTIONS.subscriptions]: 'uid',
};

/** Collections whose documents concern one person, or are useless without that person. */
const ABOUT_ONE: readonly string[] = [COLLECTIONS.authorizations, COLLECTIONS.invitations];

const BELOW: readonly string[] = [
  MEMBERS,
  TASK_LOGS,
  TASK_MESSAGES,
  TASK_RESULTS,
  'sessions',
  'counters',
  ARCHIVE,
  'agentCounts',
  'routing',
  'order',
  'steps',
  'calls',
  'counts',
];

/** Collections that security rules read. Their documents are deleted last, when the person's tokens have expired. */
const LAST: readonly string[] = [COLLECTIONS.people];

export async function eraseInFirestore(erasing: Erasing): Promise<void> {
  const { database } = erasing;
  for (const collection of await database.listCollections()) {
    if (LAST.includes(collection.id)) continue;
    await eraseIn(erasing, collection, collection.id);
    if (FREE_FORM_ROOTS.includes(collection.id)) await eraseBelow(erasing, collection);
  }
  for (const name of BELOW) await eraseIn(erasing, database.collectionGroup(name), name);
  await eraseProofs(erasing);
}

async function eraseIn(erasing: Erasing, query: Query, name: string): Promise<void> {
  for await (const page of pagesOf(query)) await forEach(page, (snapshot) => eraseDocument(erasing, name, snapshot));
}

/** Erases free-form data, which can be nested at any depth, even below documents that do not exist. */
async function eraseBelow(erasing: Erasing, collection: CollectionReference): Promise<void> {
  for (const document of await collection.listDocuments())
    for (const deeper of await document.listCollections()) {
      await eraseIn(erasing, deeper, collection.path.split('/')[0] ?? '');
      await eraseBelow(erasing, deeper);
    }
}

/** Erases the commit markers of writes that the person made. */
async function eraseProofs({ database, traces, report, isDry }: Erasing): Promise<void> {
  const proofs = database.collection(COLLECTIONS.writers).doc(traces.uid).collection(COLLECTIONS.commits);
  for await (const page of pagesOf(proofs.select()))
    await forEach(page, async ({ ref }) => {
      if (!isDry) await ref.delete();
      report.add('deleted', COLLECTIONS.writers);
    });
}

/** Maximum attempts. After a conflict, one or two more are enough; the limit prevents an endless loop. */
const MAX_ATTEMPTS = 10;

async function eraseDocument(erasing: Erasing, name: string, first: QueryDocumentSnapshot): Promise<void> {
  let snapshot: QueryDocumentSnapshot | undefined = first;
  for (let attempt = 0; attempt < MAX_ATTEMPTS && snapshot !== undefined; attempt++) {
    const change = changeOf(erasing.traces, name, snapshot);
    if (change === undefined) return;
    if (erasing.isDry || (await carryOut(erasing, name, snapshot, change))) {
      if (name === COLLECTIONS.subscriptions) erasing.logs.add(String(snapshot.get('log')));
      erasing.report.add(change === 'delete' ? 'deleted' : 'replaced', name);
      return;
    }
    [snapshot] = (await first.ref.parent.where(FieldPath.documentId(), '==', first.id).get()).docs;
  }
  if (snapshot !== undefined) throw new Error(`${first.ref.path} changed too often. Run the erasure again.`);
}

type Fields = Readonly<Record<string, unknown>>;

/** Returns the document's new content, or `delete` if it must be deleted; undefined if nothing changes. */
function changeOf(traces: Traces, name: string, snapshot: QueryDocumentSnapshot): Fields | 'delete' | undefined {
  const data = snapshot.data();
  const whose = ownerOf(name, data);
  // Text in the documents of other people stays unchanged.
  if (whose !== undefined) return whose === traces.uid ? 'delete' : undefined;
  const others = traces.in(data);
  if (others === data && traces.replaced(snapshot.id) === snapshot.id) return undefined;
  const isOwn = snapshot.id === traces.uid || traces.in(data['to']) !== data['to'];
  if (ABOUT_ONE.includes(name) || (ONES_OWN.includes(name) && isOwn)) return 'delete';
  const replaced = Object.fromEntries(Object.entries(Object(others)));
  // Makes all instances read cached access data again, because some may have cached this person's access.
  if (name === COLLECTIONS.accessChanges) return { ...replaced, subject: EVERYONE };
  const isOwnTodo = name === COLLECTIONS.graph && data['kind'] === 'todo' && data['owner_uid'] === traces.uid;
  return isOwnTodo ? { ...replaced, title: '', deleted: true } : replaced;
}

/** Collections whose documents belong to one person, whom the id names or to whom the document was sent. */
const ONES_OWN: readonly string[] = [COLLECTIONS.preferences, COLLECTIONS.mail, MEMBERS];
const actor = z.object({ owner_uid: z.string() });

/** Returns the owner of a document; undefined if it is shared. */
function ownerOf(name: string, data: Fields): unknown {
  const field = OWNED_BY[name];
  if (field !== undefined) return data[field];
  if (name !== COLLECTIONS.trail || data['workspace'] !== null) return undefined;
  return actor.safeParse(data['by']).data?.owner_uid;
}

/** Applies a change. @returns false if the document was changed or deleted in the meantime */
async function carryOut(
  erasing: Erasing,
  name: string,
  snapshot: QueryDocumentSnapshot,
  change: Fields | 'delete',
): Promise<boolean> {
  try {
    if (change !== 'delete') await replace(erasing.traces, snapshot, change);
    else if (name !== COLLECTIONS.todos || !(await deleteTodo(erasing, snapshot.id)))
      await snapshot.ref.delete({ lastUpdateTime: snapshot.updateTime });
    return true;
  } catch (error) {
    const isStale = error instanceof StaleWriteError || STALE_CODES.includes(statusCode(error));
    if (isStale || statusCode(error) === NOT_FOUND) return false;
    throw error;
  }
}

async function replace(traces: Traces, snapshot: QueryDocumentSnapshot, change: Fields): Promise<void> {
  const { ref, updateTime: lastUpdateTime } = snapshot;
  const before = snapshot.data();
  const id = traces.replaced(snapshot.id);
  const names = Object.keys(before);
  if (id !== snapshot.id || names.some((field) => !(field in change))) {
    const batch = ref.firestore.batch();
    // The deletion fails if the document has changed. The batch then writes nothing.
    batch.delete(ref, { lastUpdateTime });
    batch.set(ref.parent.doc(id), change);
    await batch.commit();
    return;
  }
  const [field, value, ...more] = names
    .filter((one) => change[one] !== before[one])
    .flatMap((one) => [new FieldPath(one), change[one]]);
  if (field instanceof FieldPath) await ref.update(field, value, ...more, { lastUpdateTime });
}

/**
 * Deletes a to-do as the tool does, but with an event that does not contain the to-do's content. The trigger that
 * repairs direct edits finds this event, and therefore adds no second one.
 * @returns false if the to-do is unreadable
 */
async function deleteTodo({ ports, traces }: Erasing, id: string): Promise<boolean> {
  const found = await ports.todos.find(id).catch(() => undefined);
  if (found === undefined) return false;
  const { value: todo, version } = found;
  const event = {
    id: removalId(todo),
    type: 'deleted' as const,
    taskId: todo.id,
    userId: traces.pseudonym,
    timestamp: ports.clock.now(),
    before: null,
    after: null,
    changes: [],
  };
  await ports.store.commit([
    { kind: 'deleteTodo', todo, version },
    { kind: 'recordEvent', event },
    { kind: 'deleteReminder', id: todo.id },
    ...(await guardChanges(ports, todo, undefined)),
  ]);
  return true;
}
