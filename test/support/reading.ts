import { DocumentReading } from '../../functions/src/kernel/firestore/reading.ts';
import type { UnreadableDocuments } from '../../functions/src/kernel/ports.ts';

/** For tests without unreadable documents, or that ignore them. */
export const unnoted: UnreadableDocuments = { note() {}, recent: async () => [] };

export const documents = new DocumentReading(unnoted);
