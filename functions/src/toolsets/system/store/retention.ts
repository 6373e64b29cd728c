/** What is a record of something that is over, and is removed when it is old: nothing that is open refers to it. */
import type { Firestore } from '@google-cloud/firestore';
import { deleteFound } from '../../../kernel/firestore/client.ts';
import { COLLECTIONS } from '../../../kernel/firestore/paths.ts';
import { type RetentionDays, retentionPart, type SweepPart } from '../../../kernel/sweep.ts';

/** Each with its time, which Firestore indexes by itself, and by whose days it is kept. */
const RECORDS = [
  { collection: COLLECTIONS.events, time: 'timestamp', kept: 'events' },
  { collection: COLLECTIONS.audit, time: 'timestamp', kept: 'events' },
  { collection: COLLECTIONS.mail, time: 'created_at', kept: 'events' },
  { collection: COLLECTIONS.trail, time: 'at', kept: 'trail' },
] as const;

export function recordRetention(database: Firestore, days: RetentionDays): readonly SweepPart[] {
  return RECORDS.map(({ collection, time, kept }) =>
    retentionPart(`${collection} kept`, days[kept], async (before, { isOver }) => {
      const old = database.collection(collection).where(time, '<=', before).orderBy(time);
      const removed = await deleteFound(old, isOver);
      // What is left goes with the next turn.
      const left = isOver() ? { stoppedAt: { at: before, id: collection } } : {};
      return { counts: { removed }, isBehind: isOver(), ...left };
    }),
  );
}
