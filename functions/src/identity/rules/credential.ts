/** Stored credentials of agents, and errors for invalid ones. */
import { z } from 'zod/mini';
import { documentCodec, timestamp } from '../../kernel/documentCodec.ts';
import { MusterError } from '../../kernel/errors.ts';

/** Credentials through which something was created, outermost first. Source: identity/rules/lineage.ts. */
export const lineage = z.array(
  z.object({
    /** `key:` with the line of a credential, or `grant:` with the id of a grant. */
    subject: z.templateLiteral([z.enum(['key', 'grant']), ':', z.string()]),
    /** Agent of that credential. */
    agent_id: z.string(),
  }),
);

/** An agent's credential without its secret: `credentials/{apiKey}`. Source: docs/semantics.md#permissions. */
export const credentialCodec = documentCodec(
  z.object({
    api_key: z.string(),
    agent_id: z.string(),
    /** Hexadecimal SHA-256 of the secret. */
    secret_hash: z.string(),
    created_at: timestamp,
    expires_at: timestamp,
    /** Allowed toolsets; absent for all. */
    toolsets: z.nullable(z.array(z.string())),
    /** The only allowed workspace; absent for all of its owner's. */
    held_to: z.exactOptional(z.string()),
    /** Whether the credential is read-only. */
    readonly: z.exactOptional(z.literal(true)),
    /** Grant of the app that issued the credential, which ends with that grant. */
    grant: z.exactOptional(z.string()),
    /** First API key of a chain of renewals by the agent itself; absent if the credential was never renewed. */
    line: z.exactOptional(z.string()),
    ancestors: lineage,
  }),
);

export const credentialFromDocument = credentialCodec.fromDocument;

/** The line of a credential, which survives renewals by its own agent, or a grant. */
export type LinkSubject = `${'key' | 'grant'}:${string}`;

/** Credential of a lineage, and its agent. */
export interface Link {
  readonly subject: LinkSubject;
  readonly agent_id: string;
}

/** Changes of credentials. */
export interface CredentialChanges {
  readonly issueCredential: { readonly credential: Credential };
  /** `line`: if it differs from the key. Descendants end too, unless a renewed credential has the same line. */
  readonly withdrawCredential: { readonly apiKey: string; readonly line?: string | undefined };
}

/** Returns the line of a credential, which its descendants store. */
export function lineOf({ line, api_key }: Pick<Credential, 'line' | 'api_key'>): string {
  return line ?? api_key;
}

export type Credential = ReturnType<typeof credentialFromDocument>;

/** Limits of a credential. */
export type Limits = Pick<Credential, 'toolsets' | 'held_to' | 'readonly'>;

/** Lifetime of a credential. */
export const CREDENTIAL_DAYS = 90;

export const EVERYONE = 'everybody';

/** Subject of an access change. A credential is identified by its public part. */
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
    suggestion: 'ID tokens last one hour. Refresh it, as getIdToken() of the Firebase SDKs does, or sign in again.',
    cause,
  });
}
