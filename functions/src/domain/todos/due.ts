import { inThePast } from './errors.ts';

/** How long ago a date may be that its caller still took for the future. */
export const GRACE_MILLISECONDS = 60_000;

/**
 * @param field the argument that names the date
 * @throws MusterError VALIDATION_ERROR where it was more than a minute ago
 */
export function requireFuture(field: string, date: Date, now: Date): void {
  if (date.getTime() < now.getTime() - GRACE_MILLISECONDS) throw inThePast(field, date);
}
