/** Where a reader of a log goes on. Callers carry it as text that means nothing to them. */
import { MusterError } from '../errors.ts';

export interface Position {
  readonly log: string;
  /** The entry to read next, from 1. */
  readonly sequence: number;
  /** The first transition of that entry to look at. */
  readonly index: number;
}

const FORMAT = /^([a-z2-7]{20})\.([1-9]\d{0,9})\.(0|[1-9]\d{0,3})$/;

export function beginningOf(log: string): Position {
  return { log, sequence: 1, index: 0 };
}

export function cursorOf({ log, sequence, index }: Position): string {
  return `${log}.${sequence}.${index}`;
}

/** @throws MusterError INVALID_FORMAT for what is no cursor of ours */
export function positionAt(cursor: string): Position {
  const [, log, sequence, index] = FORMAT.exec(cursor) ?? [];
  if (log === undefined) throw invalidCursor();
  return { log, sequence: Number(sequence), index: Number(index) };
}

export function invalidCursor(): MusterError {
  return new MusterError('INVALID_FORMAT', 'This is no cursor of this subscription.', {
    field: 'cursor',
    reason: 'INVALID_CURSOR',
    suggestion:
      'Give back the cursor of an earlier answer as it was, or none to begin with the oldest event.',
  });
}
