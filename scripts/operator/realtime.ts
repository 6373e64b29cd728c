/** The Realtime Database, once it has answered: its client waits for one that is away for ever. */
import type { Database } from 'firebase-admin/database';
import { realtimeDatabase } from '../../functions/src/kernel/realtime/database.ts';
import { inTime } from '../../functions/src/kernel/waiting.ts';

const ANSWERING_MILLISECONDS = 30_000;

/** @throws Error where it does not answer */
export async function reachedRealtime(): Promise<Database> {
  const database = await realtimeDatabase();
  const url = database.ref().toString();
  const answer = database.ref('checks/operator').get();
  await inTime(answer, ANSWERING_MILLISECONDS, `The Realtime Database at ${url}`).catch(() => {
    throw new Error(
      `The Realtime Database at ${url} did not answer. Nothing was changed. Give --database-url.`,
    );
  });
  return database;
}
