/**
 * The apps that people sign in from. An app is known by the address of a document that describes it, or registers
 * itself. All are public: none has a secret. Source: draft-ietf-oauth-client-id-metadata-document; RFC 7591.
 */

import { z } from 'zod';
import type { AccessChange } from '../../access/rules/ports.ts';
import type { ChangeOf, Store, Versioned } from '../../kernel/commit.ts';
import { documentCodec, timestamp } from '../../kernel/documentCodec.ts';
import { isVisible, oneLine } from '../../kernel/hidden.ts';
import { parsedJson } from '../../kernel/json.ts';
import { BoundedMap } from '../../kernel/memoCache.ts';
import { type KernelPorts, Service } from '../../kernel/ports.ts';
import type { Authorization, AuthorizationChanges } from './authorization.ts';
import { OAuthError } from './oauthError.ts';
import { redirectFault, withoutPort } from './redirects.ts';

export interface RegisteredClient extends Omit<Client, 'host'> {
  readonly created_at: Date;
  readonly expires_at: Date;
}

/** An app that has registered itself: `clients/{id}`. */
export const { toDocument: clientToDocument, fromDocument: clientFromDocument } = documentCodec(
  z.object({
    id: z.string(),
    name: z.string(),
    redirect_uris: z.array(z.string()),
    created_at: timestamp,
    /** Unless it is used. */
    expires_at: timestamp,
  }),
);

export interface Client {
  readonly id: string;
  /** What it calls itself, fit to be shown. */
  readonly name: string;
  /** Whose document says so; absent where it registered itself, so that nobody vouches for it. */
  readonly host?: string;
  readonly redirect_uris: readonly string[];
}

/** Reads the document at an address of somebody else's. */
export interface ClientDocuments {
  /** @throws Error where there is none that may be read, whose message tells why */
  fetch(url: URL): Promise<{ readonly text: string; readonly maxAgeSeconds: number | undefined }>;
}

export interface ClientChanges {
  /** As a client registers, and as it is used: it is forgotten some time after that. */
  readonly keepClient: { readonly client: RegisteredClient };
}

const SECOND = 1000;
const DAY = 24 * 60 * 60 * SECOND;

/** Anybody can register a client: until a person has signed in from it, it is kept for this long. */
const REGISTERED_DAYS = 1;

const UNUSED_DAYS = 90;

/** A client that people sign in from is written once a day at most. */
const KEPT_DAYS_AT_LEAST = UNUSED_DAYS - 1;

const MAX_REDIRECTS = 10;

const LONGEST_NAME = 60;

const MAX_CACHED = 200;

/** Whatever its server says. */
const [LEAST_CACHED, MOST_CACHED] = [5 * 60 * SECOND, DAY];

const NAMELESS = 'An app';

/** A name as it may be shown: on one line, without what reorders or hides text, and no longer than a line. */
export function shownName(name: string): string {
  // Not even a joiner: a person decides by this name.
  const plain = oneLine(name.replace(/\p{Default_Ignorable_Code_Point}/gu, ' '));
  const shown = [...plain].slice(0, LONGEST_NAME).join('').trim();
  return isVisible(shown) ? shown : NAMELESS;
}

/** Registered ids have a form of their own, which no address has. */
const REGISTERED = /^client_[0-9a-f]{32}$/;

export class Clients extends Service<
  KernelPorts & {
    readonly store: Store<ChangeOf<ClientChanges>>;
    readonly signIns: SignInQueries;
    readonly clientDocuments: ClientDocuments;
  }
> {
  /** By the address of their documents. */
  private readonly cached = new BoundedMap<string, { client: Client; until: number }>(MAX_CACHED);

  /**
   * The client of an id.
   * @param charge is called before a document is fetched; throws where too many were
   * @returns undefined where there is none
   * @throws OAuthError where its document cannot be taken, which says why
   */
  async find(id: string, charge: () => void): Promise<Client | undefined> {
    if (REGISTERED.test(id)) return this.findRegistered(id);
    const url = documentUrl(id);
    if (url === undefined) return undefined;
    const known = this.cached.get(id);
    const now = this.ports.clock.now().getTime();
    if (known !== undefined && known.until > now) return known.client;
    charge();
    const { text, maxAgeSeconds = 0 } = await this.ports.clientDocuments
      .fetch(url)
      .catch((error: unknown) => {
        this.ports.log.info('client_document_refused', { host: url.host, error });
        throw new OAuthError('invalid_client', `The document ${id} could not be read: ${reasonOf(error)}.`);
      });
    const client = describedIn(text, id, url.host);
    const lasting = Math.min(Math.max(maxAgeSeconds * SECOND, LEAST_CACHED), MOST_CACHED);
    this.cached.set(id, { client, until: now + lasting });
    return client;
  }

  /** Registers a client. The same again is the same client, so that nobody fills the database. */
  async register(body: unknown): Promise<RegisteredClient> {
    const { success, data, error } = registration.safeParse(body);
    if (!success) throw new OAuthError('invalid_client_metadata', faultIn(error));
    const name = shownName(data.client_name ?? '');
    const redirectUris = [...new Set(data.redirect_uris)];
    for (const uri of redirectUris) {
      const fault = redirectFault(uri);
      if (fault !== undefined)
        throw new OAuthError('invalid_redirect_uri', `The redirect URI "${uri}" ${fault}.`);
    }
    // Programs that listen at another port each time are the same, as where their people are led back to is.
    const digest = this.ports.hashing.sha256(JSON.stringify([name, redirectUris.map(withoutPort).sort()]));
    const now = this.ports.clock.now();
    const id = `client_${digest.slice(0, 32)}`;
    const known = await this.ports.signIns.client(id);
    // A client that registers again may sign in next, and one that people sign in from keeps its later end.
    if (known !== undefined && known.expires_at >= after(now, REGISTERED_DAYS / 2))
      return { ...known, redirect_uris: redirectUris };
    const expiresAt = after(now, REGISTERED_DAYS);
    const client = {
      id,
      name,
      redirect_uris: redirectUris,
      created_at: known?.created_at ?? now,
      expires_at: expiresAt,
    };
    await this.ports.store.commit([{ kind: 'keepClient', client }]);
    return client;
  }

  private async findRegistered(id: string): Promise<Client | undefined> {
    const now = this.ports.clock.now();
    const known = await this.ports.signIns.client(id);
    if (known === undefined || known.expires_at <= now) return undefined;
    const { name, redirect_uris } = known;
    return { id, name, redirect_uris };
  }

  /** Keeps a registered client for longer, because a person signs in from it. */
  async keepUsed(id: string): Promise<void> {
    if (!REGISTERED.test(id)) return;
    const now = this.ports.clock.now();
    const known = await this.ports.signIns.client(id);
    if (known === undefined || known.expires_at >= after(now, KEPT_DAYS_AT_LEAST)) return;
    const client = { ...known, expires_at: after(now, UNUSED_DAYS) };
    await this.ports.store.commit([{ kind: 'keepClient', client }]);
  }
}

function after(now: Date, days: number): Date {
  return new Date(now.getTime() + days * DAY);
}

/** The address of a client's document, where an id is one. Source: the draft, section 3, "Client Identifier". */
function documentUrl(id: string): URL | undefined {
  if (id.length > 1000 || !URL.canParse(id) || !id.startsWith('https://')) return undefined;
  const url = new URL(id);
  // One that the parser writes otherwise has dot segments, a port that is the usual one, or letters that are folded.
  const isPlain = url.href === id && !id.includes('#') && url.username === '' && url.password === '';
  return isPlain && url.pathname !== '/' ? url : undefined;
}

const description = z.looseObject({
  client_id: z.string(),
  client_name: z.string().min(1),
  redirect_uris: z.array(z.string()).min(1),
  client_secret: z.undefined().optional(),
  token_endpoint_auth_method: z.string().optional(),
  token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
});

/** @throws OAuthError */
function describedIn(text: string, id: string, host: string): Client {
  const { success, data, error } = description.safeParse(parsedJson(text));
  if (!success)
    throw new OAuthError('invalid_client', `The document ${id} is none of a client: ${faultIn(error)}`);
  if (data.client_id !== id)
    throw new OAuthError('invalid_client', `The document ${id} says that it is of another client.`);
  // ChatGPT prefers a signature by its own key, and can do without.
  const methods = [
    data.token_endpoint_auth_method ?? 'none',
    ...(data.token_endpoint_auth_methods_supported ?? []),
  ];
  if (!methods.includes('none'))
    throw new OAuthError(
      'invalid_client',
      `The client ${id} is not public, and public ones alone are taken.`,
    );
  const redirectUris = data.redirect_uris.filter((uri) => redirectFault(uri) === undefined);
  return { id, name: shownName(data.client_name), host, redirect_uris: redirectUris };
}

const registration = z.looseObject({
  client_name: z.string().max(1000).optional(),
  redirect_uris: z.array(z.string()).min(1).max(MAX_REDIRECTS),
});

function faultIn({ issues: [issue] }: z.ZodError): string {
  const where = issue?.path.join('.') || 'the body';
  return `${where}: ${issue?.message ?? 'it is not as it must be'}.`;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/\.$/, '') : 'it cannot be reached';
}

export interface SignInQueries {
  authorization(id: string): Promise<Versioned<Authorization> | undefined>;
  client(id: string): Promise<RegisteredClient | undefined>;
}

export type SignInChange = ChangeOf<AuthorizationChanges & ClientChanges> | AccessChange;
