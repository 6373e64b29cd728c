import type { Firestore } from '@google-cloud/firestore';
import { z } from 'zod';
import { DEFAULT_PREFERENCES, type Preferences } from '../../domain/notifications/notification.ts';
import type { PreferenceReader } from '../../domain/notifications/ports.ts';
import { preferencesPath } from './paths.ts';
import type { DocumentReading } from './reading.ts';

const MINUTE = 60_000;

/** People write it themselves, as the security rules allow: what is missing or unknown is as by default. */
const preferencesDocument = z.object({
  reminder_lead_minutes: z
    .int()
    .min(0)
    .catch(DEFAULT_PREFERENCES.leadMilliseconds / MINUTE),
  push: z.boolean().catch(DEFAULT_PREFERENCES.channels.push),
  email: z.boolean().catch(DEFAULT_PREFERENCES.channels.email),
});

export function preferencesFromDocument(data: unknown): Preferences {
  const { reminder_lead_minutes, push, email } = preferencesDocument.parse(data);
  return { leadMilliseconds: reminder_lead_minutes * MINUTE, channels: { push, email } };
}

export class FirestorePreferenceReader implements PreferenceReader {
  private readonly database: Firestore;
  private readonly documents: DocumentReading;

  constructor(database: Firestore, documents: DocumentReading) {
    this.database = database;
    this.documents = documents;
  }

  async of(uid: string): Promise<Preferences> {
    const snapshot = await this.database.doc(preferencesPath(uid)).get();
    return this.documents.readable(snapshot, preferencesFromDocument)[0] ?? DEFAULT_PREFERENCES;
  }
}
