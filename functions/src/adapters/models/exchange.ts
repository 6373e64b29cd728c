/** One request to a vendor through its SDK, from its sending to its end. */
import { type Progress, stopped } from './failure.ts';

export interface Exchange<Item> {
  readonly signal: AbortSignal;
  readonly progress: Progress;
  /** Sends the request; resolves with the vendor's first word. The signal closes it. */
  readonly open: (signal: AbortSignal) => Promise<AsyncIterable<Item>>;
  /** What the SDK threw, in our words. */
  readonly failureOf: (error: unknown) => Error;
}

/**
 * The parts of the answer as they come. However it ends, the connection is not left open for nobody.
 * @throws ModelFailure
 */
export async function* received<Item>({ signal, progress, open, failureOf }: Exchange<Item>) {
  if (signal.aborted) throw stopped(signal, progress, false);
  const reading = new AbortController();
  try {
    const items = await open(AbortSignal.any([signal, reading.signal]));
    progress.answered = true;
    for await (const item of items) yield item;
  } catch (error) {
    throw signal.aborted ? stopped(signal, progress, true) : failureOf(error);
  } finally {
    reading.abort();
  }
  // The SDKs end an iteration that was aborted as if it were complete.
  if (signal.aborted) throw stopped(signal, progress, true);
}

/** A key in a header of the vendor's own is carried by `fetch` to wherever it is redirected: here, nowhere. */
export function fetchOnce(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  return fetch(input, { ...init, redirect: 'error' });
}
