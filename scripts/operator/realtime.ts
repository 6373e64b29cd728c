/** Checks the connection to the Realtime Database, because its client waits without limit for an unreachable one. */
import type { Database } from 'firebase-admin/database';
import { withTimeout } from '../../functions/src/kernel/concurrency.ts';
import { realtimeDatabase } from '../../functions/src/kernel/realtime/database.ts';

const ANSWERING_MS = 30_000;

/** @throws Error if the database does not respond */
export async function reachedRealtime(): Promise<Database> {
  const database = await realtimeDatabase();
  const url = database.ref().toString();
  const answer = database.ref('checks/operator').get();
  await withTimeout(answer, ANSWERING_MS, `The Realtime Database at ${url}`).catch(() => {
    throw new Error(`The Realtime Database at ${url} did not respond. Nothing was changed. Specify --database-url.`);
  });
  return database;
}
