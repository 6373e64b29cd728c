import type { Database } from 'firebase-admin/database';
import { z } from 'zod';
import type { CallerToken } from '../../../access/store/idTokens.ts';
import { Service } from '../../../kernel/ports.ts';
import type { RealtimePorts } from './rest.ts';

/** Time in milliseconds for which an unused client stays open, because the caller may start another watch. */
const IDLE_TTL_MS = 10000;

/** Maximum number of clients, unless more clients are in use at the same time. */
const MAX_CLIENTS = 50;

/** Claims that differ between the tokens of one caller. They are ignored, so that several tokens share one client. */
const PER_TOKEN_CLAIMS: readonly string[] = ['iat', 'exp'];

interface Client {
  readonly database: Database;
  readonly close: () => Promise<void>;
  watches: number;
  idle?: NodeJS.Timeout;
}

export type Lease = Awaited<ReturnType<CallerClients['lease']>>;

/**
 * Clients that watch with callers' rights. Each client is an app of the Admin SDK, whose connection has the caller's
 * claims. Source: docs/decisions/0009-databases-as-the-caller.md;
 * https://firebase.google.com/docs/database/admin/start#authenticate-with-limited-privileges
 */
export class CallerClients extends Service<Pick<RealtimePorts, 'app' | 'randomness'>> {
  /** Clients by claims, least recently used first. */
  private readonly clients = new Map<string, Client>();

  /** Returns a client that stays open until `release` is called. `release` must be called exactly once. */
  async lease(claims: CallerToken['claims']) {
    const [{ initializeApp, deleteApp }, { getDatabase }] = await Promise.all([
      import('firebase-admin/app'),
      import('firebase-admin/database'),
    ]);
    const connect = (): Client => {
      const options = { ...this.ports.app().options, databaseAuthVariableOverride: authOf(claims) };
      const app = initializeApp(options, `caller-${this.ports.randomness.uuid()}`);
      return { database: getDatabase(app), close: () => deleteApp(app), watches: 0 };
    };
    const key = keyOf(claims);
    const client = this.clients.get(key) ?? connect();
    clearTimeout(client.idle);
    client.watches++;
    this.clients.delete(key);
    this.clients.set(key, client);
    this.evictOldest();
    const release = (): void => {
      client.watches--;
      if (client.watches > 0) return;
      client.idle = setTimeout(() => this.end(key, client), IDLE_TTL_MS).unref();
    };
    return { database: client.database, release };
  }

  private evictOldest(): void {
    for (const [key, client] of this.clients) {
      if (this.clients.size <= MAX_CLIENTS) return;
      if (client.watches === 0) this.end(key, client);
    }
  }

  private end(key: string, client: Client): void {
    clearTimeout(client.idle);
    this.clients.delete(key);
    client.close().catch(() => undefined); // no call waits for the client to close
  }
}

function keyOf(claims: CallerToken['claims']): string {
  const lasting = Object.entries(claims).filter(([name]) => !PER_TOKEN_CLAIMS.includes(name));
  return JSON.stringify(lasting.sort(([one], [other]) => (one < other ? -1 : 1)));
}

const signIn = z.object({
  sub: z.string(),
  firebase: z.object({ sign_in_provider: z.string() }).catch({ sign_in_provider: 'custom' }),
});

/**
 * Returns the value of `auth` in the security rules. For an ID token, the database derives the same value. Source:
 * https://firebase.google.com/docs/reference/security/database#auth
 */
function authOf(claims: CallerToken['claims']): object {
  const { sub, firebase } = signIn.parse(claims);
  return { uid: sub, provider: firebase.sign_in_provider, token: claims };
}
