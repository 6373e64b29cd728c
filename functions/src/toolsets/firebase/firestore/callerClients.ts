import { Firestore, type Settings } from '@google-cloud/firestore';
import type { CallerTokens } from '../../../access/store/idTokens.ts';
import type { Caller } from '../../../identity/rules/principal.ts';
import { databaseId } from '../../../kernel/firestore/client.ts';
import { type Clock, type Hashing, Service } from '../../../kernel/ports.ts';

interface Entry {
  readonly client: Firestore;
  readonly expiresAt: Date;
  users: number;
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
        methods: { BatchGetDocuments: { retry_codes_name: 'none' }, RunQuery: { retry_codes_name: 'none' } },
      },
    },
  },
};

const SETTINGS: Settings = { useBigInt: true, ...WITHOUT_BLIND_RETRIES };

/** Firestore clients that come as their caller: each carries one ID token, so that the security rules decide. */
export class CallerClients extends Service<Pick<FirestorePorts, 'tokens' | 'clock'>> {
  /** By ID token, the least recently used first. */
  private readonly entries = new Map<string, Entry>();

  /** A client that stays open until it is released, and when its ID token expires. */
  async lease(caller: Caller) {
    const { idToken, expiresAt } = await this.ports.tokens.of(caller);
    const settings = this.entries.has(idToken) ? undefined : await settingsFor(idToken);
    // While they were waited for, another call may have opened the client.
    const entry = this.entries.get(idToken) ?? { client: new Firestore(settings), expiresAt, users: 0 };
    entry.users += 1;
    this.entries.delete(idToken);
    this.entries.set(idToken, entry);
    this.retireSome();
    let isReleased = false;
    /** May be called again. */
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

  /** Those whose token has expired, and the least recently used of too many. */
  private retireSome(): void {
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

function closeUnused({ client, users }: Entry): void {
  if (users === 0) client.terminate().catch(() => undefined); // its process ends it in the end
}

/** The emulator takes the token as a header of each call, production as the connection's credential. */
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
  /** How long a call, or a watch's first snapshot, may take. */
  readonly timeoutMilliseconds: number;
}
