/** Credentials of agents as stored, and errors for invalid credentials. */
import { z } from 'zod/mini';
import { documentCodec, timestamp } from '../../kernel/documentCodec.ts';
import { MusterError } from '../../kernel/errors.ts';

/** Credential chain of an item, outermost credential first. Source: identity/rules/lineage.ts. */
export const lineage = z.array(
  z.object({
    /** `key:` with the line of a credential (see `line` below), or `grant:` with the id of a grant. */
    subject: z.templateLiteral([z.enum(['key', 'grant']), ':', z.string()]),
    agent_id: z.string(),
  }),
);

/** Document `credentials/{apiKey}` of an agent's credential. Source: docs/semantics.md#permissions. */
export const credentialCodec = documentCodec(
  z.object({
    api_key: z.string(),
    agent_id: z.string(),
    /** SHA-256 of the secret, as hexadecimal digits. */
    secret_hash: z.string(),
    created_at: timestamp,
    expires_at: timestamp,
    /** Toolsets that the credential may use; null for all toolsets. */
    toolsets: z.nullable(z.array(z.string())),
    /** The only workspace in which the credential may be used; absent for all workspaces of its owner. */
    held_to: z.exactOptional(z.string()),
    readonly: z.exactOptional(z.literal(true)),
    /** Id of the grant of the app that issued the credential. The credential ends with the grant. */
    grant: z.exactOptional(z.string()),
    /** First API key of the credential, before its agent renewed the credential; absent if it was never renewed. */
    line: z.exactOptional(z.string()),
    ancestors: lineage,
  }),
);

export const credentialFromDocument = credentialCodec.fromDocument;

/** Either a credential's line (which stays the same when the agent renews the credential) or the id of a grant. */
export type LinkSubject = `${'key' | 'grant'}:${string}`;

/** One credential of a credential chain, and the agent that has the credential. */
export interface Link {
  readonly subject: LinkSubject;
  readonly agent_id: string;
}

export interface CredentialChanges {
  readonly issueCredential: { readonly credential: Credential };
  /** `line`: set if it differs from the API key. Descendants end too, unless the line has a renewed credential. */
  readonly withdrawCredential: { readonly apiKey: string; readonly line?: string | undefined };
}

/** Returns the line of a credential. The credentials that are registered through it store its line. */
export function lineOf({ line, api_key }: Pick<Credential, 'line' | 'api_key'>): string {
  return line ?? api_key;
}

export type Credential = ReturnType<typeof credentialFromDocument>;
export type Limits = Pick<Credential, 'toolsets' | 'held_to' | 'readonly'>;

/** Returns only those limits that are set. */
export function limitsOf(limits: { readonly [Name in keyof Limits]?: Limits[Name] | undefined }): Limits {
  const { toolsets, held_to, readonly } = limits;
  return { ...(toolsets && { toolsets }), ...(held_to !== undefined && { held_to }), ...(readonly && { readonly }) };
}

/** Lifetime of a credential, in days. */
export const CREDENTIAL_DAYS = 90;
export const EVERYONE = 'everybody';

/** Agent, person, grant or credential that an access change concerns. A credential is named by its public part. */
export type AccessSubject = `${'agent' | 'person' | 'grant' | 'key'}:${string}` | typeof EVERYONE;

export function invalidCredential(cause?: unknown): MusterError {
  return new MusterError('UNAUTHORIZED', 'Invalid or revoked credential.', {
    suggestion:
      'Send "<apiKey>.<secret>" from onboarding.registerAgent or "npm run agents", or a Firebase ID token of this project.',
    cause,
  });
}

/** Expired ID token. Source: https://firebase.google.com/docs/reference/rest/auth#section-refresh-token */
export function expiredCredential(cause?: unknown): MusterError {
  return new MusterError('TOKEN_EXPIRED', 'The credential has expired.', {
    suggestion:
      'ID tokens last one hour. Refresh the token, as getIdToken() of the Firebase SDKs does, or sign in again.',
    cause,
  });
}
