import { Firestore, type Settings } from '@google-cloud/firestore';
import type { CallerTokens } from '../../../access/store/idTokens.ts';
import type { Caller } from '../../../identity/rules/principal.ts';
import { databaseId } from '../../../kernel/firestore/client.ts';
import { type Clock, type Hashing, Service } from '../../../kernel/ports.ts';

interface CachedClient {
  readonly client: Firestore;
  readonly expiresAt: Date;
  users: number;
}

/** Maximum number of cached clients. Each has its own connection. */
const MAX_CLIENTS = 100;

/**
 * Settings without blind retries. By default every read that fails immediately is repeated twice, after two and four
 * seconds, even if the rules denied it. With these settings the Firestore client itself retries, by error code and
 * from the last received document.
 */
const NO_BLIND_RETRIES = {
  gaxServerStreamingRetries: true,
  clientConfig: {
    interfaces: {
      'google.firestore.v1.Firestore': {
        retry_codes: { none: [] },
        methods: { BatchGetDocuments: { retry_codes_name: 'none' }, RunQuery: { retry_codes_name: 'none' } },
      },
    },
  },
};

const SETTINGS: Settings = { useBigInt: true, ...NO_BLIND_RETRIES };

/** Firestore clients that authenticate as the caller: each sends one ID token, so that the security rules apply. */
export class CallerClients extends Service<Pick<FirestorePorts, 'tokens' | 'clock'>> {
  /** Clients by ID token, the least recently used first. */
  private readonly entries = new Map<string, CachedClient>();

  /** Returns a client that stays open until it is released, and the expiry of its ID token. */
  async lease(caller: Caller) {
    const { idToken, expiresAt } = await this.ports.tokens.of(caller);
    const settings = this.entries.has(idToken) ? undefined : await settingsFor(idToken);
    // Another call may have opened the client during the awaits above.
    const entry = this.entries.get(idToken) ?? { client: new Firestore(settings), expiresAt, users: 0 };
    entry.users += 1;
    this.entries.delete(idToken);
    this.entries.set(idToken, entry);
    this.closeOldest();
    let isReleased = false;
    /** Idempotent. */
    const release = (): void => {
      if (isReleased) return;
      isReleased = true;
      entry.users -= 1;
      if (this.entries.get(idToken) !== entry) closeUnused(entry);
    };
    return { client: entry.client, expiresAt: entry.expiresAt, release };
  }

  async use<T>(caller: Caller, work: (client: Firestore) => Promise<T>): Promise<T> {
    const { client, release } = await this.lease(caller);
    try {
      return await work(client);
    } finally {
      release();
    }
  }

  /** Removes the clients with expired tokens, and the least recently used above the maximum. */
  private closeOldest(): void {
    const now = this.ports.clock.now();
    let surplus = this.entries.size - MAX_CLIENTS;
    for (const [idToken, entry] of this.entries) {
      if (surplus <= 0 && entry.expiresAt > now) continue;
      surplus -= 1;
      this.entries.delete(idToken);
      closeUnused(entry);
    }
  }
}

function closeUnused({ client, users }: CachedClient): void {
  if (users === 0) client.terminate().catch(() => undefined); // the process exit closes it at the latest
}

/** The emulator reads the token from a header of each call, production from the connection's credential. */
async function settingsFor(idToken: string): Promise<Settings> {
  const settings = { ...SETTINGS, databaseId: databaseId() };
  if (process.env['FIRESTORE_EMULATOR_HOST']) {
    return { ...settings, customHeaders: { Authorization: `Bearer ${idToken}` } };
  }
  const { OAuth2Client } = await import('google-auth-library');
  const authClient = new OAuth2Client();
  authClient.setCredentials({ access_token: idToken });
  return { ...settings, authClient };
}

export interface FirestorePorts {
  readonly tokens: CallerTokens;
  readonly clock: Clock;
  readonly hashing: Hashing;
  /** Timeout of a call, or of a watch's first snapshot. */
  readonly timeoutMilliseconds: number;
}
