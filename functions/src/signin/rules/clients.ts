/**
 * OAuth clients: the apps that people connect. A client's id is the URL of its document; a client without a document
 * registers and gets an id. All are public. Source: draft-ietf-oauth-client-id-metadata-document; RFC 7591.
 */
import { z } from 'zod';
import type { AccessChange } from '../../access/rules/ports.ts';
import type { ChangeOf, Store, Versioned } from '../../kernel/commit.ts';
import { documentCodec, timestamp } from '../../kernel/documentCodec.ts';
import { isVisible, oneLine } from '../../kernel/hiddenCharacters.ts';
import { parsedJson } from '../../kernel/json.ts';
import { BoundedMap } from '../../kernel/memoCache.ts';
import { DAY_MS, type KernelPorts, SECOND_MS, Service } from '../../kernel/ports.ts';
import type { Authorization, AuthorizationChanges } from './authorization.ts';
import { OAuthError } from './oauthError.ts';
import { redirectFault, withoutPort } from './redirects.ts';

export type RegisteredClient = ReturnType<typeof clientFromDocument>;

/** Document `clients/{id}`: a client that registered on its own. */
export const { toDocument: clientToDocument, fromDocument: clientFromDocument } = documentCodec(
  z.object({
    id: z.string(),
    name: z.string(),
    redirect_uris: z.array(z.string()),
    created_at: timestamp,
    /** Time at which the client is deleted. Each sign-in from the client postpones the deletion. */
    expires_at: timestamp,
  }),
);

export interface Client {
  readonly id: string;
  /** Name that the client gives itself, cleaned for display. */
  readonly name: string;
  /** Host of the document that states the name; absent if the client registered on its own and is thus unverified. */
  readonly host?: string;
  readonly redirect_uris: readonly string[];
}

export interface ClientDocuments {
  /** @throws Error with the reason if the document cannot be fetched or is not allowed */
  fetch(url: URL): Promise<{ readonly text: string; readonly maxAgeSeconds: number | undefined }>;
}

export interface ClientChanges {
  /** Stores a client when it registers and when a person signs in from it, with a new time of expiry. */
  readonly storeClient: { readonly client: RegisteredClient };
}

/** Retention of a client that no one has signed in from. It is short because anyone can register clients. */
const REGISTRATION_DAYS = 1;
const UNUSED_RETENTION_DAYS = 90;

/** Retention is extended only if less than this is left, so that a client in use is written at most once a day. */
const MIN_KEPT_DAYS = UNUSED_RETENTION_DAYS - 1;
const MAX_REDIRECTS = 10;
const MAX_NAME_LENGTH = 60;
const MAX_CACHED = 200;

/** Bounds of the cache lifetime that a document's server may request. */
const [MIN_CACHE_MS, MAX_CACHE_MS] = [5 * 60 * SECOND_MS, DAY_MS];
const UNNAMED_CLIENT = 'An app';

/** Returns a name for display: one line, at most 60 characters, without invisible or reordering characters. */
export function shownName(name: string): string {
  // Joiners are removed too, because a person recognizes the app by this name.
  const plain = oneLine(name.replace(/\p{Default_Ignorable_Code_Point}/gu, ' '));
  const shown = [...plain].slice(0, MAX_NAME_LENGTH).join('').trim();
  return isVisible(shown) ? shown : UNNAMED_CLIENT;
}

/** Form of registered client ids. No URL has this form. */
const REGISTERED = /^client_[0-9a-f]{32}$/;

export class Clients extends Service<
  KernelPorts & {
    readonly store: Store<ChangeOf<ClientChanges>>;
    readonly signIns: SignInQueries;
    readonly clientDocuments: ClientDocuments;
  }
> {
  /** Keyed by document URL. */
  private readonly cached = new BoundedMap<string, { client: Client; until: number }>(MAX_CACHED);

  /**
   * @param charge called before a document is fetched; throws if too many documents were fetched
   * @throws OAuthError with the reason if the client's document is not acceptable
   */
  async find(id: string, charge: () => void): Promise<Client | undefined> {
    if (REGISTERED.test(id)) return this.findRegistered(id);
    const url = documentUrl(id);
    if (url === undefined) return undefined;
    const known = this.cached.get(id);
    const now = this.ports.clock.now().getTime();
    if (known !== undefined && known.until > now) return known.client;
    charge();
    const { text, maxAgeSeconds = 0 } = await this.ports.clientDocuments.fetch(url).catch((error: unknown) => {
      this.ports.log.info('client_document_refused', { host: url.host, error });
      const reason = error instanceof Error ? error.message.replace(/\.$/, '') : 'unreachable';
      throw new OAuthError('invalid_client', `The document ${id} could not be read: ${reason}.`);
    });
    const client = describedIn(text, id, url.host);
    const lasting = Math.min(Math.max(maxAgeSeconds * SECOND_MS, MIN_CACHE_MS), MAX_CACHE_MS);
    this.cached.set(id, { client, until: now + lasting });
    return client;
  }

  /** Registers a client. Repeated registrations return the same client, so that they cannot fill the database. */
  async register(body: unknown): Promise<RegisteredClient> {
    const { success, data, error } = registration.safeParse(body);
    if (!success) throw new OAuthError('invalid_client_metadata', faultIn(error));
    const name = shownName(data.client_name ?? '');
    const redirectUris = [...new Set(data.redirect_uris)];
    for (const uri of redirectUris) {
      const fault = redirectFault(uri);
      if (fault !== undefined) throw new OAuthError('invalid_redirect_uri', `The redirect URI "${uri}" ${fault}.`);
    }
    // A program may listen on a different port each time and is still the same client, so ports are not compared.
    const digest = this.ports.hashing.sha256(JSON.stringify([name, redirectUris.map(withoutPort).sort()]));
    const now = this.ports.clock.now();
    const id = `client_${digest.slice(0, 32)}`;
    const known = await this.ports.signIns.client(id);
    // A client that registers again may soon be used to sign in. A client in use keeps its later expiry.
    if (known !== undefined && known.expires_at >= after(now, REGISTRATION_DAYS / 2))
      return { ...known, redirect_uris: redirectUris };
    const expiresAt = after(now, REGISTRATION_DAYS);
    const client = {
      id,
      name,
      redirect_uris: redirectUris,
      created_at: known?.created_at ?? now,
      expires_at: expiresAt,
    };
    await this.ports.store.commit([{ kind: 'storeClient', client }]);
    return client;
  }

  private async findRegistered(id: string): Promise<Client | undefined> {
    const now = this.ports.clock.now();
    const known = await this.ports.signIns.client(id);
    if (known === undefined || known.expires_at <= now) return undefined;
    const { name, redirect_uris } = known;
    return { id, name, redirect_uris };
  }

  /** Extends the retention of a registered client, because a person signs in from it. */
  async extendUsed(id: string): Promise<void> {
    if (!REGISTERED.test(id)) return;
    const now = this.ports.clock.now();
    const known = await this.ports.signIns.client(id);
    if (known === undefined || known.expires_at >= after(now, MIN_KEPT_DAYS)) return;
    const client = { ...known, expires_at: after(now, UNUSED_RETENTION_DAYS) };
    await this.ports.store.commit([{ kind: 'storeClient', client }]);
  }
}

function after(now: Date, days: number): Date {
  return new Date(now.getTime() + days * DAY_MS);
}

/** Returns the URL of a client's document; undefined if the id is not such a URL. Source: the draft, section 3. */
function documentUrl(id: string): URL | undefined {
  if (id.length > 1000 || !URL.canParse(id) || !id.startsWith('https://')) return undefined;
  const url = new URL(id);
  // The parser changes URLs that have dot segments, the default port or upper-case letters in their host.
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
  if (!success) throw new OAuthError('invalid_client', `The document ${id} is not client metadata: ${faultIn(error)}`);
  if (data.client_id !== id) throw new OAuthError('invalid_client', `The document ${id} belongs to another client.`);
  // ChatGPT prefers to sign requests with its own key, but also supports the method `none`.
  const methods = [data.token_endpoint_auth_method ?? 'none', ...(data.token_endpoint_auth_methods_supported ?? [])];
  if (!methods.includes('none'))
    throw new OAuthError('invalid_client', `The client ${id} is confidential; only public clients are supported.`);
  const redirectUris = data.redirect_uris.filter((uri) => redirectFault(uri) === undefined);
  return { id, name: shownName(data.client_name), host, redirect_uris: redirectUris };
}

const registration = z.looseObject({
  client_name: z.string().max(1000).optional(),
  redirect_uris: z.array(z.string()).min(1).max(MAX_REDIRECTS),
});

function faultIn({ issues: [issue] }: z.ZodError): string {
  const where = issue?.path.join('.') || 'the body';
  return `${where}: ${issue?.message ?? 'invalid value'}.`;
}

export interface SignInQueries {
  authorization(id: string): Promise<Versioned<Authorization> | undefined>;
  client(id: string): Promise<RegisteredClient | undefined>;
}

export type SignInChange = ChangeOf<AuthorizationChanges & ClientChanges> | AccessChange;
