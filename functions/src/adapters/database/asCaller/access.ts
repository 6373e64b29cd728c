/** The Realtime Database as the caller. Source: docs/decisions/0009-realtime-rest-as-caller.md. */
import type { App } from 'firebase-admin/app';
import type {
  DatabaseAccess,
  ReadOutcome,
  ReadRequest,
  Watch,
  Watcher,
  WatchShape,
  WriteOutcome,
  WriteRequest,
} from '../../../domain/data/access.ts';
import type { Caller } from '../../../domain/data/caller.ts';
import type { DataPath } from '../../../domain/data/path.ts';
import type { Clock, Hashing, Randomness } from '../../../domain/ports.ts';
import type { CallerTokens } from '../../auth/callerTokens.ts';
import { CallerClients } from './clients.ts';
import { Cursors } from './cursor.ts';
import { Paging } from './paging.ts';
import { Reading } from './reading.ts';
import { CallerRest } from './rest.ts';
import { CallerWatch, type WatchingDependencies } from './watching.ts';
import { Writing } from './writing.ts';

export interface RealtimeDependencies {
  /** The server's own; it says where the database is. */
  readonly app: () => App;
  readonly tokens: CallerTokens;
  readonly clock: Clock;
  readonly hashing: Hashing;
  readonly randomness: Randomness;
  /** How long an answer, or the first state of a watch, may take. */
  readonly patienceMilliseconds: number;
}

export class RealtimeAccess implements DatabaseAccess {
  private readonly reading: Reading;
  private readonly writing: Writing;
  private readonly watching: WatchingDependencies;

  constructor(dependencies: RealtimeDependencies) {
    const { app, clock, hashing, randomness } = dependencies;
    const newKey = () => pushKey(app());
    const rest = new CallerRest(dependencies);
    this.reading = new Reading({ rest, paging: new Paging(rest, new Cursors(hashing)), clock });
    this.writing = new Writing({ rest, clock, randomness, newKey });
    this.watching = { ...dependencies, clients: new CallerClients(app, randomness) };
  }

  read(caller: Caller, { text }: DataPath, request: ReadRequest): Promise<ReadOutcome> {
    return this.reading.read(caller, text, request);
  }

  async write(caller: Caller, path: DataPath, request: WriteRequest): Promise<WriteOutcome> {
    return this.writing.write(caller, path, request);
  }

  watch(caller: Caller, path: DataPath, shape: WatchShape, most: number, watcher: Watcher): Watch {
    return new CallerWatch(this.watching, caller, { path: path.text, shape, most }, watcher);
  }
}

/** As the database's own clients make it. */
async function pushKey(app: App): Promise<string> {
  const { getDatabase } = await import('firebase-admin/database');
  const { key } = getDatabase(app).ref().push();
  if (key === null) throw new Error('The root has no key.');
  return key;
}
