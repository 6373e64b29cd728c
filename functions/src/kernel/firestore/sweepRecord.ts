import type { Firestore } from '@google-cloud/firestore';
import { z } from 'zod';
import type { Log } from '../ports.ts';
import type { BehindPart, PresenceOutage, SweepRecord, SweepState } from '../sweep.ts';
import { timestamp } from './documents.ts';
import { sweepPath } from './paths.ts';

const outage = z.object({ since: timestamp, back_at: timestamp.exactOptional() });

const behindPart = z.object({
  since: timestamp,
  from: z.object({ at: timestamp, id: z.string() }).exactOptional(),
});

const sweepDocument = z.object({
  outage: outage.nullish(),
  behind: z.record(z.string(), behindPart).default({}),
});

export function sweepFromDocument(data: unknown): SweepState {
  const { outage: stored, behind } = sweepDocument.parse(data);
  if (!stored) return { behind };
  const { since, back_at } = stored;
  return { outage: { since, ...(back_at && { backAt: back_at }) }, behind };
}

export class FirestoreSweepRecord implements SweepRecord {
  private readonly database: Firestore;
  private readonly path: string;
  private readonly log: Log;

  /** @param name of the sweep: each has a record of its own */
  constructor(database: Firestore, name: string, log: Log) {
    this.database = database;
    this.path = sweepPath(name);
    this.log = log;
  }

  async read(): Promise<SweepState> {
    const snapshot = await this.database.doc(this.path).get();
    try {
      return sweepFromDocument(snapshot.data() ?? {});
    } catch (error) {
      this.log.error('sweep_record_unreadable', { document: this.path, error });
      // What somebody has broken by hand says nothing: the sweep begins anew, and writes over it.
      return { behind: {} };
    }
  }

  async saveOutage(told: PresenceOutage | undefined): Promise<void> {
    const saved = told && { since: told.since, ...(told.backAt && { back_at: told.backAt }) };
    await this.save('outage', saved ?? null);
  }

  async saveBehind(behind: SweepState['behind']): Promise<void> {
    const parts = Object.entries(behind).map(([name, part]) => [name, partToDocument(part)]);
    await this.save('behind', Object.fromEntries(parts));
  }

  /** Two sweeps at once may save: each field is the latter's, and the other field stays. */
  private async save(field: 'outage' | 'behind', value: object | null): Promise<void> {
    await this.database.doc(this.path).set({ [field]: value }, { mergeFields: [field] });
  }
}

function partToDocument({ since, from }: BehindPart) {
  return { since, ...(from && { from }) };
}
