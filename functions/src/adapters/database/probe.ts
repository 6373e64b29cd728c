import type { Database } from 'firebase-admin/database';
import { minuteMetricsPath } from './paths.ts';

/** A minute in which nobody called: nothing is ever there. */
const NOWHERE = minuteMetricsPath(new Date(0));

/** Asks the server for a node that has nothing. */
export async function probeRealtimeDatabase(database: () => Promise<Database>): Promise<void> {
  await (await database()).ref(NOWHERE).get();
}
