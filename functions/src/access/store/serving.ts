/**
 * Since when the newest revision of a function has served: `serving/{name}`. Whoever starts and finds another revision
 * there writes its own. Source: docs/decisions/0041-trust-that-lasts.md#beside-an-earlier-version.
 */
import type { Firestore } from '@google-cloud/firestore';
import { z } from 'zod';
import { documentCodec, timestamp } from '../../kernel/firestore/codec.ts';
import { servingPath } from '../../kernel/firestore/paths.ts';
import { type DocumentReading, FirestoreReader } from '../../kernel/firestore/reading.ts';
import type { Clock } from '../../kernel/ports.ts';

export const { fromDocument: servingFromDocument, toDocument: servingToDocument } = documentCodec(
  z.object({ revision: z.string(), since: timestamp }),
);

interface ServingSettings {
  readonly clock: Clock;
  /** That this instance is of. Absent: there are no revisions, and never another version beside this one. */
  readonly revision: Revision | undefined;
}

/** As Cloud Run names them: `mcp-00042-fab` of the service `mcp`. */
export interface Revision {
  readonly service: string;
  readonly name: string;
}

export class ServingRecord extends FirestoreReader {
  private readonly settings: ServingSettings;

  constructor(database: Firestore, documents: DocumentReading, settings: ServingSettings) {
    super(database, documents);
    this.settings = settings;
  }

  /** Since when the revision of this instance has served. */
  async since(): Promise<Date> {
    const { revision } = this.settings;
    if (revision === undefined) return new Date(0);
    const snapshot = await this.database.doc(servingPath(revision.service)).get();
    // One that cannot be read is written anew: credentials are only trusted later.
    const [found] = snapshot.exists ? this.documents.readable(snapshot, servingFromDocument) : [];
    return found?.revision === revision.name ? found.since : this.begin(revision);
  }

  /** Of two instances that begin at the same time, the later one's time stays. */
  async begin({ service, name }: Revision): Promise<Date> {
    const since = this.settings.clock.now();
    await this.database.doc(servingPath(service)).set(servingToDocument({ revision: name, since }));
    return since;
  }
}
