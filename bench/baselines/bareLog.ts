/** Baseline of a log: one Firestore document per line, written in batches. */
import { randomUUID } from 'node:crypto';
import type { Firestore } from '@google-cloud/firestore';

export interface BareLine {
  readonly at: Date;
  readonly message: string;
}

export interface BareLog {
  /** Appends the messages, and returns the number of written documents. */
  append(lines: readonly BareLine[]): Promise<number>;
  /** Returns the messages of the newest lines, oldest first. */
  latest(count: number): Promise<string[]>;
}

export function bareLog(firestore: Firestore): BareLog {
  const lines = firestore.collection(`logs/${randomUUID()}/lines`);
  let written = 0;
  return {
    async append(added) {
      const batch = firestore.batch();
      for (const line of added) batch.create(lines.doc(), { ...line, number: written++ });
      return (await batch.commit()).length;
    },
    async latest(count) {
      const { docs } = await lines.orderBy('number', 'desc').limit(count).get();
      return docs.map((line) => String(line.get('message'))).reverse();
    },
  };
}
