/** Time and Firestore operations of one call of a function whose Firestore connection has a meter. */
import { type Bill, NOTHING, plus } from './bill.ts';
import type { Meter, MeteredCall } from './meter.ts';

export interface Look<Answer = unknown> {
  readonly answer: Answer;
  readonly bill: Bill;
  readonly queries: number;
  /** Bytes of all messages to and from Firestore. */
  readonly bytes: number;
  /** Milliseconds of the whole call. */
  readonly inAll: number;
  /** Milliseconds of the call in which no operation of Firestore was in progress. */
  readonly outsideFirestore: number;
}

/** Returns whether an instance makes this call at most once in 5 seconds for all of its callers. */
export function isPeriodic({ documents }: MeteredCall): boolean {
  return documents.some((name) => name.endsWith('/accessChanges'));
}

/** Makes the call, and counts everything that the function sends to Firestore for it, except periodic calls. */
export async function look<Answer>(meter: Meter, call: () => Promise<Answer>): Promise<Look<Answer>> {
  meter.take();
  const began = performance.now();
  const answer = await call();
  const answered = performance.now();
  await meter.idle();
  const all = meter.take();
  const calls = all.filter((one) => !isPeriodic(one));
  const inAll = answered - began;
  return {
    answer,
    bill: calls.reduce((sum, { bill }) => plus(sum, bill), NOTHING),
    queries: calls.filter(({ method }) => method === 'RunQuery').length,
    bytes: calls.reduce((sum, { bytes }) => sum + bytes, 0),
    inAll,
    outsideFirestore: inAll - waitedFor(all, answered),
  };
}

/** Returns for how long, before the response, at least one call of Firestore was running. */
function waitedFor(calls: readonly MeteredCall[], answered: number): number {
  let [waited, until] = [0, 0];
  for (const { began, ended = answered } of calls) {
    const end = Math.min(ended, answered);
    waited += Math.max(0, end - Math.max(began, until));
    until = Math.max(until, end);
  }
  return waited;
}
