/** What Firestore and its emulator say of a document above 1 MiB. */
export const TOO_LARGE = /exceeds the maximum|maximum entity size|is longer than \d+ bytes/;

/** A page ends before it is larger than this, in characters of JSON, so that no list fills an instance. */
export const MAX_PAGE_CHARACTERS = 4_000_000;
