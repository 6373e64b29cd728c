import type { Database } from 'firebase-admin/database';

/** The Realtime Database. Its client is loaded when something first needs it. */
export async function realtimeDatabase(): Promise<Database> {
  const [{ firebaseApp }, { getDatabase }] = await Promise.all([
    import('./firebaseApp.ts'),
    import('firebase-admin/database'),
  ]);
  return getDatabase(firebaseApp());
}
