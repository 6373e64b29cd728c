/** Firestore as the caller. Source: docs/decisions/0011-firestore-as-caller.md. */

import { Firestore, type Settings } from '@google-cloud/firestore';
import type { Caller } from '../../../access/rules/principal.ts';
import type { CallerTokens } from '../../../access/store/signIn.ts';
import { connectionError } from '../../../kernel/errors.ts';
import type { Clock, Hashing } from '../../../kernel/ports.ts';
import { within } from '../../../kernel/waiting.ts';
import type {
  DatabaseAccess,
  DataPath,
  ReadOutcome,
  ReadRequest,
  Watch,
  Watcher,
  WatchShape,
  WriteOutcome,
  WriteRequest,
} from '../rules/access.ts';
import { unansweredWrite } from '../rules/errors.ts';
import { type Attempt, explained } from './errors.ts';
import { readCollection, readDocument } from './read.ts';
import { watch } from './watch.ts';
import { write } from './write.ts';

interface FirestoreAccessPorts {
  readonly tokens: CallerTokens;
  readonly clock: Clock;
  readonly hashing: Hashing;
  /** How long a call, or a watch's first snapshot, may take. */
  readonly timeoutMilliseconds: number;
}

export class FirestoreAccess implements DatabaseAccess {
  private readonly ports: FirestoreAccessPorts;
  private readonly clients: CallerClients;

  constructor(ports: FirestoreAccessPorts) {
    this.ports = ports;
    this.clients = new CallerClients(ports.tokens, ports.clock);
  }

  read(caller: Caller, path: DataPath, { query = {} }: ReadRequest): Promise<ReadOutcome> {
    const attempt: Attempt = { caller, path, action: 'read', orderBy: query.orderBy };
    return this.attempt(attempt, () =>
      this.clients.use(caller, (client) =>
        path.kind === 'document'
          ? readDocument(client, path)
          : readCollection(this.ports, client, path, query),
      ),
    );
  }

  write(caller: Caller, path: DataPath, request: WriteRequest): Promise<WriteOutcome> {
    return this.attempt({ caller, path, action: 'write' }, () =>
      this.clients.use(caller, (client) => write({ clock: this.ports.clock, client, caller }, path, request)),
    );
  }

  watch(caller: Caller, path: DataPath, shape: WatchShape, most: number, watcher: Watcher): Watch {
    return watch({ ...this.ports, clients: this.clients }, { caller, path, shape, most }, watcher);
  }

  private async attempt<T>(attempt: Attempt, work: () => Promise<T>): Promise<T> {
    const { timeoutMilliseconds: milliseconds } = this.ports;
    const unanswered = attempt.action === 'write' ? unansweredWrite : connectionError;
    try {
      // The client itself goes on for minutes where nothing answers.
      return await within(milliseconds, work(), () => unanswered(`no answer in ${milliseconds} ms`));
    } catch (error) {
      throw explained(error, attempt);
    }
  }
}

// Firestore clients that come as their caller: each carries one ID token, so that the security rules
// decide. Source: docs/decisions/0011-firestore-as-caller.md.

/** A client with the right to use it. It stays open until released. */
export interface Lease {
  readonly client: Firestore;
  /** Of its ID token. */
  readonly expiresAt: Date;
  /** May be called again. */
  release(): void;
}

interface Entry {
  readonly client: Firestore;
  readonly expiresAt: Date;
  users: number;
  retired: boolean;
}

/** Each has a connection of its own. */
const MAX_CLIENTS = 100;

/**
 * By default every read that fails at once is repeated twice, after two and four seconds, also one that the
 * rules refuse. This leaves repeating to the Firestore client itself, which goes by the error's code, and knows
 * what it has received already.
 */
const WITHOUT_BLIND_RETRIES = {
  gaxServerStreamingRetries: true,
  clientConfig: {
    interfaces: {
      'google.firestore.v1.Firestore': {
        retry_codes: { none: [] },
        methods: {
          BatchGetDocuments: { retry_codes_name: 'none' },
          RunQuery: { retry_codes_name: 'none' },
        },
      },
    },
  },
};

const SETTINGS: Settings = { useBigInt: true, ...WITHOUT_BLIND_RETRIES };

export class CallerClients {
  private readonly tokens: CallerTokens;
  private readonly clock: Clock;
  /** By ID token, the least recently used first. */
  private readonly entries = new Map<string, Entry>();

  constructor(tokens: CallerTokens, clock: Clock) {
    this.tokens = tokens;
    this.clock = clock;
  }

  async lease(caller: Caller): Promise<Lease> {
    const { idToken, expiresAt } = await this.tokens.of(caller);
    const kept = this.entries.get(idToken);
    if (kept !== undefined) return this.leased(idToken, kept);
    const settings = await settingsFor(idToken);
    const quicker = this.entries.get(idToken);
    if (quicker !== undefined) return this.leased(idToken, quicker);
    return this.leased(idToken, { client: new Firestore(settings), expiresAt, users: 0, retired: false });
  }

  async use<T>(caller: Caller, work: (client: Firestore) => Promise<T>): Promise<T> {
    const { client, release } = await this.lease(caller);
    try {
      return await work(client);
    } finally {
      release();
    }
  }

  private leased(idToken: string, entry: Entry): Lease {
    entry.users += 1;
    this.entries.delete(idToken);
    this.entries.set(idToken, entry);
    this.retireSome();
    return { client: entry.client, expiresAt: entry.expiresAt, release: releaseOnce(entry) };
  }

  /** Those whose token has expired, and the least recently used of too many. */
  private retireSome(): void {
    const now = this.clock.now();
    let surplus = this.entries.size - MAX_CLIENTS;
    for (const [idToken, entry] of this.entries) {
      if (surplus <= 0 && entry.expiresAt > now) continue;
      surplus -= 1;
      this.entries.delete(idToken);
      entry.retired = true;
      closeUnused(entry);
    }
  }
}

function releaseOnce(entry: Entry): () => void {
  let released = false;
  return () => {
    if (released) return;
    released = true;
    entry.users -= 1;
    closeUnused(entry);
  };
}

function closeUnused({ client, users, retired }: Entry): void {
  if (retired && users === 0) client.terminate().catch(() => undefined); // its process ends it in the end
}

/** The emulator takes the token as a header of each call, production as the connection's credential. */
async function settingsFor(idToken: string): Promise<Settings> {
  if (process.env['FIRESTORE_EMULATOR_HOST']) {
    return { ...SETTINGS, customHeaders: { Authorization: `Bearer ${idToken}` } };
  }
  const { OAuth2Client } = await import('google-auth-library');
  const authClient = new OAuth2Client();
  authClient.setCredentials({ access_token: idToken });
  return { ...SETTINGS, authClient };
}
