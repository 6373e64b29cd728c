/**
 * Stored documents that this version cannot read: somebody has changed them by hand, or a newer version wrote them.
 * Whoever reads many steps over them, and whoever asks for one is told which it is.
 */
import { MusterError } from './errors.ts';

/** Keeps account of such documents. */
export interface UnreadableDocuments {
  /** Never throws, and is cheap for one that is noted time and again. */
  note(path: string, error: unknown): void;
  /** Those that any instance has met in the last hour, as far as they can be counted: at most 1,000. */
  recent(): Promise<readonly string[]>;
}

export class UnreadableDocumentError extends MusterError {
  /** As far as the document says. */
  readonly ownerUid: string | undefined;

  constructor(path: string, ownerUid?: string) {
    super('FIREBASE_ERROR', `The stored document "${path}" cannot be read.`, {
      reason: 'UNREADABLE_DOCUMENT',
      suggestion:
        'It was changed by hand, or by a newer version of Muster. The log says what is wrong with it, at document_unreadable.',
    });
    this.name = 'UnreadableDocumentError';
    this.ownerUid = ownerUid;
  }
}

/** What is read, or undefined where it cannot be. */
export async function unlessUnreadable<Value>(reading: Promise<Value>): Promise<Value | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof UnreadableDocumentError) return undefined;
    throw error;
  }
}

/** What is read; to others than its owner there is none where it cannot be, for nobody learns of another's. */
export async function readFor<Value>(ownerUid: string, reading: Promise<Value>): Promise<Value | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof UnreadableDocumentError && error.ownerUid !== ownerUid) return undefined;
    throw error;
  }
}
