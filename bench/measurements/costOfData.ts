/** Calls every firebase tool. These tools read and write Firestore with the caller's identity. */
import type { Cast, Ledger } from './costLedger.ts';

const DOCUMENTS = 10;
const COLLECTION = 'shared/cost/notes';

export async function playData({ worker }: Cast, ledger: Ledger): Promise<void> {
  const note = { database: 'firestore', path: `${COLLECTION}/n0`, data: { text: 'A note' } };
  const data = (tool: string, args: object, situation?: string) =>
    ledger.call(worker, `firebase.${tool}`, args, situation);
  await data('write', note, 'operation set');
  await data('write', { ...note, operation: 'update' }, 'operation update');
  await data('write', { ...note, transaction: true }, 'operation set in a transaction');
  for (let count = 1; count < DOCUMENTS; count++)
    await data('write', { ...note, path: COLLECTION, operation: 'push' }, 'operation push');
  const place = { database: 'firestore', path: COLLECTION };
  await data('read', { database: 'firestore', path: note.path }, 'a document');
  await data('read', place, `a collection of ${DOCUMENTS}`);
  await data('read', { ...place, query: { limit: 5 } }, 'returns 5 documents, and reads one more');

  const subscription = { subscriptionId: 'sub-cost' };
  const subscribe = { ...subscription, ...place, eventType: 'document_added' };
  const { cursor } = await data('subscribe', subscribe, `to a collection of ${DOCUMENTS}`);
  await data('pollEvents', { ...subscription, cursor, waitMs: 0 }, `first poll of ${DOCUMENTS} documents`);
  await data('pollEvents', { ...subscription, cursor, waitMs: 0 }, 'the instance already watches the collection');
  await data('unsubscribe', subscription);
}
