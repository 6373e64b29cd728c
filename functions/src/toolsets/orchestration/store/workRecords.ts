/** How hosted agents have done in a workspace, as Firestore keeps it. */

import { FieldValue } from '@google-cloud/firestore';
import { z } from 'zod';
import { documentCodec } from '../../../kernel/documentCodec.ts';
import { workRecordPath } from '../../../kernel/firestore/paths.ts';
import { FirestoreReader } from '../../../kernel/firestore/reading.ts';
import { type ChangeWriters, increments } from '../../../kernel/firestore/store.ts';
import type { WorkChanges, WorkRecord } from '../rules/agents/standing.ts';
import type { WorkRecordQueries } from '../rules/ports.ts';

const count = z.number().default(0);

const tally = z.object({
  accepted: count,
  failed: count,
  lost: count,
  retried: count,
  worth: count,
  milliseconds: count,
  cost_usd: count,
});

/** `workspaces/{workspace}/routing/work`: by kind of work, by bucket, by agent. */
export const { toDocument: workToDocument, fromDocument: workFromDocument } = documentCodec(
  z.object({
    kinds: z
      .record(
        z.string(),
        z.object({
          outcomes: count,
          buckets: z.record(z.string(), z.record(z.string(), tally)).default({}),
        }),
      )
      .default({}),
  }),
);

export class FirestoreWorkRecordQueries extends FirestoreReader implements WorkRecordQueries {
  async find(workspace: string): Promise<WorkRecord> {
    const snapshot = await this.database.doc(workRecordPath(workspace)).get();
    const [work] = this.documents.readable(snapshot, workFromDocument);
    return work?.kinds ?? {};
  }
}

export const workWriters: ChangeWriters<WorkChanges> = {
  bookOutcomes({ workspace, bookings }, writes) {
    const kinds = bookings.map(({ kind, outcomes, bucket, tallies, faded }) => {
      const counted = Object.entries(tallies).map(([agent, { costUsd, ...rest }]) => [
        agent,
        increments({ ...rest, cost_usd: costUsd }),
      ]);
      const dropped = faded.map((one) => [one, FieldValue.delete()]);
      const buckets = Object.fromEntries([[bucket, Object.fromEntries(counted)], ...dropped]);
      return [kind, { ...increments({ outcomes }), buckets }];
    });
    writes.merge(workRecordPath(workspace), { kinds: Object.fromEntries(kinds) });
  },
};
