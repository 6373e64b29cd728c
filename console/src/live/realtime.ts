/** Listens to the Realtime Database. It uses only WebSocket, because the page's policy forbids the alternative. */
import {
  connectDatabaseEmulator,
  type Database,
  forceWebSockets,
  getDatabase,
  limitToLast,
  onValue,
  orderByChild,
  orderByKey,
  type QueryConstraint,
  query,
  ref,
} from 'firebase/database';
import { connection } from '../session/session.ts';
import type { NodeQuery } from './query.ts';

let opened: Database | undefined;

function database(): Database {
  if (opened !== undefined) return opened;
  const { app, deployment } = connection();
  forceWebSockets();
  opened = getDatabase(app);
  if (deployment.emulators !== undefined) {
    const { hostname, port } = new URL(`http://${deployment.emulators.database}`);
    connectDatabaseEmulator(opened, hostname, Number(port));
  }
  return opened;
}

/** @returns a function that stops listening */
export function watchNode(
  asked: NodeQuery,
  hearing: { next(value: unknown): void; error(error: Error): void },
): () => void {
  const ordered: readonly QueryConstraint[] =
    asked.last === undefined
      ? []
      : [asked.orderBy === undefined ? orderByKey() : orderByChild(asked.orderBy), limitToLast(asked.last)];
  return onValue(
    query(ref(database(), asked.node), ...ordered),
    (snapshot) => hearing.next(snapshot.val()),
    (error) => hearing.error(error),
  );
}
