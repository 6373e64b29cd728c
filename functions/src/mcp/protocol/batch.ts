/** Runs the messages of a batch sequentially. Limits for the whole batch keep it as cheap as a few single calls. */
import { type ErrorCode, MusterError } from '../../kernel/errors.ts';
import { MAX_RESPONSE_BYTES } from '../../kernel/json.ts';
import { withRequestTimeout } from '../toolResponse.ts';

/** Maximum size of all responses to a batch together. */
export const MAX_BATCH_BYTES = 4 * MAX_RESPONSE_BYTES;

/** Bytes for everything in a response except the data that the call returns. */
const ENVELOPE_BYTES = 65_536;

/** Time limit for a batch, the same as for a single call, because clients give up after 60 seconds. */
const BATCH_TIMEOUT_MS = 50_000;

/** Additional time for the last call, because its own timeout error is more specific than that of the batch. */
const RESPONSE_MARGIN_MS = 250;

export interface BatchResponse {
  readonly json: string | Buffer;
  /** Whether the response is not sent. It counts towards the limits even then. */
  readonly silent?: boolean;
}

interface BatchHandlers<Message> {
  /** Runs a message. Never rejects. */
  respond(message: Message): Promise<BatchResponse>;
  /** Returns the response for a message that was not run, or not completely. */
  reject(message: Message, error: MusterError): BatchResponse;
}

/** Returns the responses as a JSON array in the order of the messages; undefined if all are silent. */
export async function respondSequentially<Message>(
  messages: readonly Message[],
  { respond, reject }: BatchHandlers<Message>,
  milliseconds = BATCH_TIMEOUT_MS,
): Promise<string | undefined> {
  const end = performance.now() + milliseconds;
  const responses: string[] = [];
  let bytes = 0;
  for (const message of messages) {
    const { json, silent } = await inTurn(message, end - performance.now());
    bytes += Buffer.byteLength(json);
    if (silent !== true) responses.push(json.toString());
  }
  return responses.length === 0 ? undefined : `[${responses.join(',')}]`;

  async function inTurn(message: Message, left: number): Promise<BatchResponse> {
    if (bytes + MAX_RESPONSE_BYTES + ENVELOPE_BYTES > MAX_BATCH_BYTES) {
      const why = `the responses to earlier messages of the batch reached the limit of ${MAX_BATCH_BYTES} bytes`;
      return reject(message, notRun('QUOTA_EXCEEDED', 'BATCH_TOO_LARGE', why));
    }
    if (left <= 0) {
      const why = `earlier messages of the batch used up the limit of ${BATCH_TIMEOUT_MS / 1000} seconds`;
      return reject(message, notRun('TIMEOUT', 'BATCH_TOO_LONG', why));
    }
    try {
      return await withRequestTimeout(respond(message), Math.ceil(left) + RESPONSE_MARGIN_MS);
    } catch (error) {
      if (!(error instanceof MusterError)) throw error;
      return reject(message, error);
    }
  }
}

function notRun(code: ErrorCode, reason: string, why: string): MusterError {
  return new MusterError(code, `This message was skipped, because ${why}.`, {
    reason,
    suggestion: 'Resend the message on its own or in a smaller batch.',
  });
}
