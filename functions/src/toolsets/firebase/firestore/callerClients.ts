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

/** Maximum number of cached Firestore clients. Each client has its own connection. */
const MAX_CLIENTS = 100;

/**
 * Settings that turn off the SDK's general retries. By default, if a read fails immediately, the SDK repeats it after
 * two and after four seconds, even if the security rules denied the read. With these settings, only the Firestore
 * client retries, depending on the error code, and it continues a query after the last received document.
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

/** Firestore clients with the callers' ID tokens, so that the security rules apply. Each client has one ID token. */
export class CallerClients extends Service<Pick<FirestorePorts, 'tokens' | 'clock'>> {
  /** Clients by ID token, least recently used first. */
  private readonly entries = new Map<string, CachedClient>();

  /** Returns a client and the expiry of its ID token. The client stays open until `release` is called. */
  async lease(caller: Caller) {
    const { idToken, expiresAt } = await this.ports.tokens.of(caller);
    const settings = this.entries.has(idToken) ? undefined : await settingsFor(idToken);
    // While this call waited for the ID token, another call may have created the client for the same token.
    const entry = this.entries.get(idToken) ?? { client: new Firestore(settings), expiresAt, users: 0 };
    entry.users += 1;
    this.entries.delete(idToken);
    this.entries.set(idToken, entry);
    this.closeOldest();
    let isReleased = false;
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

  /** Closes clients with expired tokens and, if there are too many clients, the least recently used ones. */
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
  if (users === 0) client.terminate().catch(() => undefined); // if this fails, the process's exit closes the client
}

/** The emulator reads the ID token from a call header. In production, the token is the connection's credential. */
async function settingsFor(idToken: string): Promise<Settings> {
  const settings = { ...SETTINGS, databaseId: databaseId() };
  if (process.env['FIRESTORE_EMULATOR_HOST'])
    return { ...settings, customHeaders: { Authorization: `Bearer ${idToken}` } };
  const { OAuth2Client } = await import('google-auth-library');
  const authClient = new OAuth2Client();
  authClient.setCredentials({ access_token: idToken });
  return { ...settings, authClient };
}

export interface FirestorePorts {
  readonly tokens: CallerTokens;
  readonly clock: Clock;
  readonly hashing: Hashing;
  /** Timeout of a call, or of a watch until its first snapshot arrives. */
  readonly timeoutMilliseconds: number;
}
