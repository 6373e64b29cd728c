import { DocumentReading } from '../../functions/src/kernel/firestore/reading.ts';
import type { UnreadableDocuments } from '../../functions/src/kernel/ports.ts';

/** Ignores unreadable documents, for tests that do not check them. */
export const unnoted: UnreadableDocuments = { note() {}, recent: async () => [] };
export const documents = new DocumentReading(unnoted);
