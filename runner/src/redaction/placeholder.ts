/** Replacement for a secret. */
export const REDACTED = '[redacted]';
