/** The Realtime Database as the caller. Source: docs/decisions/0009-realtime-rest-as-caller.md. */

import type { App } from 'firebase-admin/app';
import type { Database } from 'firebase-admin/database';
import { z } from 'zod';
import type { Caller } from '../../../access/rules/principal.ts';
import type { CallerToken, CallerTokens } from '../../../access/store/signIn.ts';
import type { JsonValue } from '../../../kernel/json.ts';
import type { Clock, Hashing, Randomness } from '../../../kernel/ports.ts';
import type {
  DatabaseAccess,
  DataPath,
  ReadOutcome,
  ReadQuery,
  ReadRequest,
  Watch,
  Watcher,
  WatchShape,
  WriteOutcome,
  WriteRequest,
} from '../rules/access.ts';
import { pathNotFound } from '../rules/errors.ts';
import { entriesOf } from './order.ts';
import { asObject, Cursors, Paging } from './paging.ts';
import { CallerRest, NOTHING_ETAG } from './rest.ts';
import { CallerWatch, type WatchingDependencies } from './watching.ts';
import { Writing } from './writing.ts';

interface RealtimeDependencies {
  /** The server's own; it says where the database is. */
  readonly app: () => App;
  readonly tokens: CallerTokens;
  readonly clock: Clock;
  readonly hashing: Hashing;
  readonly randomness: Randomness;
  /** How long an answer, or the first state of a watch, may take. */
  readonly timeoutMilliseconds: number;
}

/** Source: https://firebase.google.com/docs/database/rest/retrieve-data */
export class RealtimeAccess implements DatabaseAccess {
  private readonly rest: CallerRest;
  private readonly paging: Paging;
  private readonly clock: Clock;
  private readonly writing: Writing;
  private readonly watching: WatchingDependencies;

  constructor(dependencies: RealtimeDependencies) {
    const { app, clock, hashing, randomness } = dependencies;
    this.rest = new CallerRest(dependencies);
    this.paging = new Paging(this.rest, new Cursors(hashing));
    this.clock = clock;
    this.writing = new Writing({ rest: this.rest, clock, randomness, newKey: () => pushKey(app()) });
    this.watching = { ...dependencies, clients: new CallerClients(app, randomness) };
  }

  /** @throws MusterError as toolsets/firebase/rules/errors.ts makes them */
  async read(
    caller: Caller,
    { text: path }: DataPath,
    { query, shallow }: ReadRequest,
  ): Promise<ReadOutcome> {
    if (query !== undefined && !shallow) return this.selection(caller, path, query);
    const asked = shallow ? { path, parameters: { shallow: 'true' } } : { path, wantsEtag: true };
    const { data, etag } = await this.rest.read(caller, asked);
    if (data === null) throw pathNotFound(path);
    const version = shallow || etag === undefined || etag === NOTHING_ETAG ? {} : { version: etag };
    return { data, count: countOf(data), timestamp: this.clock.now(), ...version };
  }

  private async selection(caller: Caller, path: string, query: ReadQuery): Promise<ReadOutcome> {
    const { children, ...end } = await this.paging.page(caller, path, query);
    return { data: asObject(children), count: children.length, timestamp: this.clock.now(), ...end };
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

function countOf(data: JsonValue): number {
  return typeof data === 'object' && data !== null ? entriesOf(data).length : 1;
}

/** Kept for the next watch of the same caller. */
const IDLE_MILLISECONDS = 10_000;

/** Those in use may be more. */
const MAX_CLIENTS = 50;

/** These differ in each of a caller's tokens, and rules that look at them would see those of the first. */
const OF_ONE_TOKEN: readonly string[] = ['iat', 'exp'];

interface Client {
  readonly database: Database;
  readonly close: () => Promise<void>;
  watches: number;
  /** Ends it, while nothing watches. */
  idle?: NodeJS.Timeout;
}

export interface Lease {
  readonly database: Database;
  /** To be called once. */
  release(): void;
}

/**
 * Clients that watch as a caller: an Admin SDK app each, whose connection the database gives the caller's claims.
 * Source: docs/decisions/0009-realtime-rest-as-caller.md;
 * https://firebase.google.com/docs/database/admin/start#authenticate-with-limited-privileges
 */
export class CallerClients {
  private readonly app: () => App;
  private readonly randomness: Randomness;
  /** By claims, the longest unused first. */
  private readonly clients = new Map<string, Client>();

  constructor(app: () => App, randomness: Randomness) {
    this.app = app;
    this.randomness = randomness;
  }

  async lease(claims: CallerToken['claims']): Promise<Lease> {
    const [{ initializeApp, deleteApp }, { getDatabase }] = await Promise.all([
      import('firebase-admin/app'),
      import('firebase-admin/database'),
    ]);
    const connect = (): Client => {
      const options = { ...this.app().options, databaseAuthVariableOverride: authOf(claims) };
      const app = initializeApp(options, `caller-${this.randomness.uuid()}`);
      return { database: getDatabase(app), close: () => deleteApp(app), watches: 0 };
    };
    return this.leaseOf(keyOf(claims), connect);
  }

  private leaseOf(key: string, connect: () => Client): Lease {
    const client = this.clients.get(key) ?? connect();
    clearTimeout(client.idle);
    client.watches++;
    this.clients.delete(key);
    this.clients.set(key, client);
    this.makeRoom();
    return { database: client.database, release: () => this.release(key, client) };
  }

  private release(key: string, client: Client): void {
    client.watches--;
    if (client.watches > 0) return;
    client.idle = setTimeout(() => void this.end(key, client), IDLE_MILLISECONDS).unref();
  }

  private makeRoom(): void {
    for (const [key, client] of this.clients) {
      if (this.clients.size <= MAX_CLIENTS) return;
      if (client.watches === 0) void this.end(key, client);
    }
  }

  private async end(key: string, client: Client): Promise<void> {
    clearTimeout(client.idle);
    this.clients.delete(key);
    try {
      await client.close();
    } catch {
      // It is not used any more, and nobody waits for its end.
    }
  }
}

function keyOf(claims: CallerToken['claims']): string {
  const lasting = Object.entries(claims).filter(([name]) => !OF_ONE_TOKEN.includes(name));
  return JSON.stringify(lasting.sort(([one], [other]) => (one < other ? -1 : 1)));
}

const signIn = z.object({
  sub: z.string(),
  firebase: z.object({ sign_in_provider: z.string() }).catch({ sign_in_provider: 'custom' }),
});

/**
 * What rules call `auth`, as the database makes it of an ID token.
 * Source: https://firebase.google.com/docs/reference/security/database#auth
 */
function authOf(claims: CallerToken['claims']): object {
  const { sub, firebase } = signIn.parse(claims);
  return { uid: sub, provider: firebase.sign_in_provider, token: claims };
}
