/** A deployment that runs in the test's process, at the root of its URL, with a clock that tests can advance. */
import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { Firestore } from '@google-cloud/firestore';
import { getAuth } from 'firebase-admin/auth';
import { Addresses } from '../../../functions/src/access/rules/addresses.ts';
import { createAppEndpoint } from '../../../functions/src/app.ts';
import { type Composition, compose } from '../../../functions/src/composition/compose.ts';
import { createAnswers } from '../../../functions/src/composition/instance.ts';
import { TOOLSETS } from '../../../functions/src/identity/rules/principal.ts';
import type { Role } from '../../../functions/src/identity/rules/role.ts';
import type { Log } from '../../../functions/src/kernel/ports.ts';
import { firebaseApp } from '../../../functions/src/kernel/realtime/database.ts';
import type { ClientDocuments } from '../../../functions/src/signin/rules/clients.ts';
import { externalServicesOf } from '../../support/externalServices.ts';
import { close, listen } from '../../support/listening.ts';
import type { LogEntry } from '../../support/mcp-endpoint.ts';

export const PASSWORD = 'only-for-these-tests';

export interface Someone {
  readonly uid: string;
  readonly name: string;
  readonly email: string;
}

/** Client documents, by address. They are held in memory and not fetched from the internet. */
export class Documents implements ClientDocuments {
  readonly texts = new Map<string, string>();
  readonly fetched: string[] = [];
  maxAgeSeconds: number | undefined;

  async fetch(url: URL) {
    this.fetched.push(url.href);
    const text = this.texts.get(url.href);
    if (text === undefined) throw new Error('its server returned 404');
    return { text, maxAgeSeconds: this.maxAgeSeconds };
  }
}

interface Parts {
  /** Source of client documents. By default, documents in memory. */
  readonly documents?: ClientDocuments;
  /** Database of the deployment. By default, the emulator's database without a proxy. */
  readonly database?: Firestore;
}

export class Deployment {
  readonly documents = new Documents();
  readonly entries: LogEntry[] = [];
  readonly composition: Composition;
  private readonly server: Server;
  private moved = 0;

  private constructor(server: Server, origin: string, { documents, database }: Parts) {
    this.server = server;
    this.origin = origin;
    this.composition = compose(
      externalServicesOf({
        clock: { now: () => this.now() },
        log: this.log,
        clientDocuments: documents ?? this.documents,
        database,
      }),
    );
    const answer = this.front({ publicUrl: origin, functionUrl: undefined });
    server.on('request', (request, response) => void answer(request, response));
  }

  /** Address of the deployment, without a trailing slash. */
  readonly origin: string;

  static async start(parts: Parts = {}): Promise<Deployment> {
    const server = createServer();
    return new Deployment(server, await listen(server), parts);
  }

  get mcp(): string {
    return `${this.origin}/mcp`;
  }

  now(): Date {
    return new Date(Date.now() + this.moved);
  }

  move(milliseconds: number): void {
    this.moved += milliseconds;
  }

  /** Resets the clock of the deployment to the system time. */
  moveBack(): void {
    this.moved = 0;
  }

  /** Returns an endpoint of this deployment that has other public addresses. */
  front(known: { readonly publicUrl: string; readonly functionUrl: string | undefined }) {
    const { log, randomness } = this.composition.kernel;
    const settings = {
      log,
      randomness,
      toolsetNames: TOOLSETS,
      addresses: new Addresses(known),
      firebase: {
        apiKey: 'emulator',
        authDomain: 'demo.firebaseapp.com',
        emulator: `http://${process.env['FIREBASE_AUTH_EMULATOR_HOST']}`,
        google: false,
        samplePeople: '[]',
      },
      allowedOrigins: [],
      mountPath: undefined,
      trustedProxies: 0,
    };
    const answers = createAnswers(this.composition, settings);
    return createAppEndpoint(settings, () => answers);
  }

  /** @param role role in the deployment; `none` for a person without a role */
  async person(name: string, role: Role | 'none' = 'worker'): Promise<Someone> {
    const mark = randomUUID().slice(0, 8);
    const someone = { uid: `${name.toLowerCase()}-${mark}`, name, email: `${name.toLowerCase()}-${mark}@example.com` };
    const { uid, email } = someone;
    const account = { uid, email, displayName: name, password: PASSWORD, emailVerified: true };
    await getAuth(firebaseApp()).createUser(account);
    await this.composition.kernel.store.commit([{ kind: 'setPerson', uid, role }]);
    return someone;
  }

  stop(): Promise<void> {
    return close(this.server);
  }

  private readonly note = (level: keyof Log) => (event: string, fields: Readonly<Record<string, unknown>>) =>
    void this.entries.push({ level, event, fields });

  private get log(): Log {
    return { info: this.note('info'), warn: this.note('warn'), error: this.note('error') };
  }
}
