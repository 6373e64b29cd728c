/** One request to a vendor through its SDK, from its sending to its end. */
import { failure, type Progress, stopped } from './failure.ts';

const MEBIBYTE = 1024 * 1024;

/**
 * Several times what the longest answer takes, with all the events around its words. What goes on beyond that is
 * cut off while it is read.
 */
const MAX_BODY_MEBIBYTES = 32;

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
    if (signal.aborted) throw stopped(signal, progress, true);
    if (!isOfTooMuch(error)) throw failureOf(error);
    throw failure('malformed', progress, { detail: `more than ${MAX_BODY_MEBIBYTES} MiB` });
  } finally {
    reading.abort();
  }
  // The SDKs end an iteration that was aborted as if it were complete.
  if (signal.aborted) throw stopped(signal, progress, true);
}

/** The vendor says more than anybody could mean to. */
class TooMuchError extends Error {
  constructor() {
    super('The vendor says too much.');
    this.name = 'TooMuchError';
  }
}

/** The SDKs may wrap what reading a body throws. */
function isOfTooMuch(error: unknown): boolean {
  if (error instanceof TooMuchError) return true;
  return error instanceof Error && error.cause !== undefined && isOfTooMuch(error.cause);
}

/**
 * Fetches, and reads at most so much. A key in a header of the vendor's own is carried by `fetch` to wherever it is
 * redirected: here, nowhere.
 */
export async function fetchOnce(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, { ...init, redirect: 'error' });
  return response.body === null ? response : new Response(bounded(response.body), response);
}

function bounded(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  let bytes = 0;
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.length;
        if (bytes > MAX_BODY_MEBIBYTES * MEBIBYTE) controller.error(new TooMuchError());
        else controller.enqueue(chunk);
      },
    }),
  );
}
