/** Sends a request again whose answer was lost, within one patience. */
import { type HttpAnswer, UnansweredError } from './transport.ts';

const MAX_SENDS = 3;

const PAUSE_MILLISECONDS = 100;

export interface Repeated {
  readonly answer: HttpAnswer;
  /** Whether it was sent before, and may have been carried out then. */
  readonly isRepeated: boolean;
}

/**
 * @param send given how long it may take, in whole milliseconds
 * @throws UnansweredError of the first send that may have arrived
 */
export async function untilAnswered(
  patienceMilliseconds: number,
  send: (milliseconds: number) => Promise<HttpAnswer>,
): Promise<Repeated> {
  const end = performance.now() + patienceMilliseconds;
  let lost: UnansweredError | undefined;
  for (let number = 1; ; number++) {
    const outcome = await attempt(() => send(Math.ceil(end - performance.now())));
    if (!(outcome instanceof UnansweredError)) return { answer: outcome, isRepeated: lost !== undefined };
    if (!outcome.isSent && lost === undefined) throw outcome;
    lost ??= outcome;
    const wait = PAUSE_MILLISECONDS * number;
    if (number === MAX_SENDS || performance.now() + wait >= end) throw lost;
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

/** Of what broke in the database or on the way to it, nobody knows how far it had come. */
async function attempt(send: () => Promise<HttpAnswer>): Promise<HttpAnswer | UnansweredError> {
  try {
    const answer = await send();
    return answer.status >= 500 ? new UnansweredError(`HTTP ${answer.status}`, true) : answer;
  } catch (error) {
    if (error instanceof UnansweredError) return error;
    throw error;
  }
}
