/** Checked connection to the Realtime Database: its client would wait forever for an unreachable one. */
import type { Database } from 'firebase-admin/database';
import { realtimeDatabase } from '../../functions/src/kernel/realtime/database.ts';
import { inTime } from '../../functions/src/kernel/waiting.ts';

const ANSWERING_MILLISECONDS = 30_000;

/** @throws Error if it does not respond */
export async function reachedRealtime(): Promise<Database> {
  const database = await realtimeDatabase();
  const url = database.ref().toString();
  const answer = database.ref('checks/operator').get();
  await inTime(answer, ANSWERING_MILLISECONDS, `The Realtime Database at ${url}`).catch(() => {
    throw new Error(
      `The Realtime Database at ${url} did not respond. Nothing was changed. Specify --database-url.`,
    );
  });
  return database;
}
