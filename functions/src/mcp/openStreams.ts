/** How many streams each principal has open at this instance, so that none of them takes all that it serves. */
import { MusterError } from '../domain/errors.ts';

/** An instance serves 80 requests at once. */
const MOST_OF_ONE_PRINCIPAL = 20;

/** Streams end, and their places with them, long before a client would give up. */
const RETRY_SECONDS = 10;

export class OpenStreams {
  readonly #counts = new Map<string, number>();

  /**
   * @returns gives the place back; to be called once
   * @throws MusterError RATE_LIMITED
   */
  open(uid: string): () => void {
    const count = this.#counts.get(uid) ?? 0;
    if (count >= MOST_OF_ONE_PRINCIPAL) {
      throw new MusterError('RATE_LIMITED', `You have ${count} streams open here, and may have no more.`, {
        reason: 'TOO_MANY_STREAMS',
        suggestion: 'Close one of them, or watch several resources through one stream.',
        retryAfter: RETRY_SECONDS,
      });
    }
    this.#counts.set(uid, count + 1);
    return () => this.#close(uid);
  }

  #close(uid: string): void {
    const count = this.#counts.get(uid) ?? 0;
    if (count > 1) this.#counts.set(uid, count - 1);
    else this.#counts.delete(uid);
  }
}
