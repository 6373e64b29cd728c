/** Runs a batch sequentially, within limits for the whole batch, so that it costs no more than a few single calls. */
import { type ErrorCode, MusterError } from '../../kernel/errors.ts';
import { MAX_ANSWER_BYTES } from '../../kernel/json.ts';
import { withDeadline } from '../answer.ts';

/** Maximum bytes of the responses to a batch. */
export const MAX_BATCH_BYTES = 4 * MAX_ANSWER_BYTES;

/** Bytes for ids, errors and other parts besides the calls' responses. */
const ENVELOPE_BYTES = 65_536;

/** Time limit, as for a single call: clients give up after 60 seconds, regardless of the number of messages. */
const BATCH_MILLISECONDS = 50_000;

/** Extra time before the batch times out, because the call's own timeout error is more specific. */
const COURTESY_MILLISECONDS = 250;

/** Result of a message. */
export interface Answered {
  readonly json: string | Buffer;
  /** Whether it is not sent. It still counts towards the limits. */
  readonly silent?: boolean;
}

interface BatchAnswers<Message> {
  /** Runs a message. Never rejects. */
  answer(message: Message): Promise<Answered>;
  /** Returns the error response to a message. */
  refuse(message: Message, error: MusterError): Answered;
}

/** Returns the responses as one JSON list, in the order of the messages; undefined if none is sent. */
export async function answerInTurn<Message>(
  messages: readonly Message[],
  { answer, refuse }: BatchAnswers<Message>,
  milliseconds = BATCH_MILLISECONDS,
): Promise<string | undefined> {
  const end = performance.now() + milliseconds;
  const told: string[] = [];
  let bytes = 0;
  for (const message of messages) {
    const { json, silent } = await inTurn(message, end - performance.now());
    bytes += Buffer.byteLength(json);
    if (silent !== true) told.push(json.toString());
  }
  return told.length === 0 ? undefined : `[${told.join(',')}]`;

  async function inTurn(message: Message, left: number): Promise<Answered> {
    if (bytes + MAX_ANSWER_BYTES + ENVELOPE_BYTES > MAX_BATCH_BYTES) {
      const why = `the responses before it reached the batch limit of ${MAX_BATCH_BYTES} bytes`;
      return refuse(message, notRun('QUOTA_EXCEEDED', 'BATCH_TOO_LARGE', why));
    }
    if (left <= 0) {
      const why = `the messages before it reached the batch limit of ${BATCH_MILLISECONDS / 1000} seconds`;
      return refuse(message, notRun('TIMEOUT', 'BATCH_TOO_LONG', why));
    }
    try {
      return await withDeadline(answer(message), Math.ceil(left) + COURTESY_MILLISECONDS);
    } catch (error) {
      if (!(error instanceof MusterError)) throw error;
      return refuse(message, error);
    }
  }
}

function notRun(code: ErrorCode, reason: string, why: string): MusterError {
  return new MusterError(code, `This message of the batch was skipped: ${why}.`, {
    reason,
    suggestion: 'Resend it on its own or in a smaller batch.',
  });
}
