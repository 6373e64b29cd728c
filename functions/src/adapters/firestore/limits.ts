import { MAX_ANSWER_BYTES } from '../../domain/size.ts';

/** What Firestore and its emulator say of a document above 1 MiB. */
export const TOO_LARGE = /exceeds the maximum|maximum entity size|is longer than \d+ bytes/;

/**
 * A page of documents ends before it is larger than this, as it would be sent: no list fills an instance, or reads
 * much more than an answer has room for, which shows less of each than there is.
 */
export const MAX_PAGE_BYTES = 2.5 * MAX_ANSWER_BYTES;

/** A query cannot be broken off: so many documents are read at once, and may be read beyond what is given. */
export const MAX_READ_AT_ONCE = 100;
