/**
 * An agent's credential: `credentials/{apiKey}`. The secret itself is never stored.
 * Source: docs/semantics.md#who-may-do-what.
 */
export interface Credential {
  readonly apiKey: string;
  readonly agentId: string;
  /** SHA-256 of the secret, hexadecimal. */
  readonly secretHash: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** The only toolsets that it opens; all where absent. */
  readonly toolsets?: readonly string[];
}

/** How long a credential lasts. */
export const CREDENTIAL_DAYS = 90;

/** An agent's Firebase Auth uid, as security rules see it. */
export function agentUid(agentId: string): string {
  return `agent:${agentId}`;
}
