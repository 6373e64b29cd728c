/** A credential of an agent, as it is stored, and how a bad one is refused. */
import { z } from 'zod/mini';
import { documentCodec, timestamp } from '../../kernel/documentCodec.ts';
import { MusterError } from '../../kernel/errors.ts';

/** The credentials through which something was made, outermost first. Source: identity/rules/lineage.ts. */
export const lineage = z.array(
  z.object({
    /** `key:` and the line of a key, or `grant:` and the id of a grant. */
    subject: z.templateLiteral([z.enum(['key', 'grant']), ':', z.string()]),
    /** The agent of that credential. */
    agent_id: z.string(),
  }),
);

/** An agent's credential, without the secret: `credentials/{apiKey}`. Source: docs/semantics.md#who-may-do-what. */
export const credentialCodec = documentCodec(
  z.object({
    api_key: z.string(),
    agent_id: z.string(),
    /** SHA-256 of the secret, hexadecimal. */
    secret_hash: z.string(),
    created_at: timestamp,
    expires_at: timestamp,
    /** The only toolsets that it opens; all where absent. */
    toolsets: z.nullable(z.array(z.string())),
    /** The only workspace that it opens; all of its owner's where absent. */
    held_to: z.exactOptional(z.string()),
    /** Whether it may change nothing. */
    readonly: z.exactOptional(z.literal(true)),
    /** The grant of the app through which it was issued: it ends with that. */
    grant: z.exactOptional(z.string()),
    /** The key of its agent that it was renewed from, by itself, the first of all; absent if it was never renewed. */
    line: z.exactOptional(z.string()),
    ancestors: lineage,
  }),
);

export const credentialFromDocument = credentialCodec.fromDocument;

/** The line of a key, which outlives its renewal by its own agent, or a grant. */
export type LinkSubject = `${'key' | 'grant'}:${string}`;

/** A credential of a lineage, and the agent that it belongs to. */
export interface Link {
  readonly subject: LinkSubject;
  readonly agent_id: string;
}

/** What commits may change of credentials. */
export interface CredentialChanges {
  readonly issueCredential: { readonly credential: Credential };
  /** `line`: if it is not the key itself. Its descendants end with it, or follow the key that renews it. */
  readonly withdrawCredential: { readonly apiKey: string; readonly line?: string | undefined };
}

/** Returns the line of a key: what its descendants remember of it. */
export function lineOf({ line, api_key }: Pick<Credential, 'line' | 'api_key'>): string {
  return line ?? api_key;
}

export type Credential = ReturnType<typeof credentialFromDocument>;

/** What a credential opens no more than. */
export type Limits = Pick<Credential, 'toolsets' | 'held_to' | 'readonly'>;

/** How long a credential lasts. */
export const CREDENTIAL_DAYS = 90;

export const EVERYBODY = 'everybody';

/** Whose access has changed. A key is named by the part of it that is no secret. */
export type AccessSubject = `${'agent' | 'person' | 'grant' | 'key'}:${string}` | typeof EVERYBODY;

export function notAccepted(cause?: unknown): MusterError {
  return new MusterError('UNAUTHORIZED', 'The credential is not valid, or it was withdrawn.', {
    suggestion:
      'Use "<apiKey>.<secret>" of onboarding.registerAgent or of "npm run agents", or a Firebase ID token of this project.',
    cause,
  });
}

/** A person's ID token is over. Source: https://firebase.google.com/docs/reference/rest/auth#section-refresh-token */
export function expired(cause?: unknown): MusterError {
  return new MusterError('TOKEN_EXPIRED', 'The credential has expired.', {
    suggestion:
      "An ID token is good for an hour: refresh it with its refresh token, as getIdToken() of Firebase's SDKs does, or sign in again.",
    cause,
  });
}
