import { MusterError } from '../errors.ts';

/** How long ago a deadline may be that its creator still took for the future. */
const GRACE_MILLISECONDS = 60_000;

/**
 * @param field the argument that names the deadline
 * @throws MusterError VALIDATION_ERROR where it was more than a minute ago
 */
export function requireAhead(deadline: Date | undefined, field: string, now: Date): void {
  if (deadline === undefined || deadline.getTime() >= now.getTime() - GRACE_MILLISECONDS) return;
  throw new MusterError('VALIDATION_ERROR', `The deadline ${deadline.toISOString()} has passed already.`, {
    field,
    value: deadline.toISOString(),
    reason: 'DEADLINE_PASSED',
    suggestion: `It is ${now.toISOString()} now. Name a later time, or leave the deadline out.`,
  });
}
