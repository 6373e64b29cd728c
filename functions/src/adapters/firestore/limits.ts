/** What Firestore and its emulator say of a document above 1 MiB. */
export const TOO_LARGE = /exceeds the maximum|maximum entity size|is longer than \d+ bytes/;

/**
 * A page of documents ends before it is larger than this, in characters of JSON: no list fills an instance, or reads
 * much more than an answer has room for. An answer shows less of a document than there is.
 */
export const MAX_PAGE_CHARACTERS = 1_200_000;

/** The same of a page whose answer is about as long as its documents, since it is sent twice. */
export const MAX_WHOLE_PAGE_CHARACTERS = 450_000;

/** A query cannot be broken off: so many documents are read at once, and may be read beyond what is given. */
export const MAX_READ_AT_ONCE = 100;
