import { MusterError } from '../errors.ts';

/** The key belongs to another call. */
export function keyReused(): MusterError {
  return new MusterError('CONFLICT', 'This idempotency_key was used with other arguments.', {
    field: 'idempotency_key',
    reason: 'KEY_REUSED',
    suggestion: 'Use a new key for a new call, or repeat the call exactly as it was.',
  });
}
