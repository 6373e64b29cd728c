/** `idempotency_key`: a repeated call gets the first answer. Source: docs/semantics.md#shared. */
import {
  type Operation,
  REPLAY_HOURS,
  type RecordedAnswer,
  UnansweredCommitError,
} from '../kernel/commit.ts';
import { type ErrorDetails, keyReused, MusterError } from '../kernel/errors.ts';
import { canonicalJson, type JsonObject } from '../kernel/json.ts';
import type { Clock, Hashing, RecordedAnswers } from '../kernel/ports.ts';
import { within } from '../kernel/waiting.ts';
import type { CallContext } from './callContext.ts';
import type { PreparedCall } from './tool.ts';

/** Whose call it is and which. */
interface CallIdentity {
  readonly uid: string;
  readonly tool: string;
  readonly workspace: string;
  /** The bearer credential: the key of derived secrets, never stored. */
  readonly credential: string;
}

export interface IdempotencyPorts {
  readonly recordedAnswers: RecordedAnswers;
  readonly clock: Clock;
  readonly hashing: Hashing;
}

/** The operation of a call that gave no key. */
export const UNKEYED: Operation = {
  argumentsHash: undefined,
  recordAnswer: () => undefined,
  derivedSecret: () => undefined,
  derivedId: () => undefined,
};

const ID_LENGTH = 20;

/** Runs the call, or replays it where its key has been settled. */
export async function runOnce(
  ports: IdempotencyPorts,
  { uid, tool, workspace, credential }: CallIdentity,
  prepared: PreparedCall,
  contextWith: (operation: Operation) => CallContext,
): Promise<JsonObject> {
  const { idempotencyKey } = prepared;
  if (idempotencyKey === undefined) return prepared.run(contextWith(UNKEYED));
  const { sha256, hmac } = ports.hashing;
  const id = sha256(JSON.stringify([uid, tool, workspace, idempotencyKey]));
  const argumentsHash = sha256(canonicalJson(prepared.input));
  const context = contextWith({
    argumentsHash,
    recordAnswer: (answer) => {
      const expiresAt = new Date(ports.clock.now().getTime() + REPLAY_HOURS * 3_600_000);
      return { id, argumentsHash, answer, expiresAt };
    },
    derivedSecret: (label) => hmac(credential, `${id}:${label}`),
    derivedId: (label) => sha256(`${id}:${label}`).slice(0, ID_LENGTH),
  });
  const settled = await findSettled(ports, id, argumentsHash);
  if (settled !== undefined) return prepared.replay(context, settled.answer);
  try {
    return await prepared.run(context);
  } catch (error) {
    // Whatever refused this call may be what the same call has just done: a task started cannot be started.
    if (!(error instanceof MusterError || error instanceof UnansweredCommitError)) throw error;
    const winner = await findSettled(ports, id, argumentsHash);
    if (winner === undefined) throw error;
    return prepared.replay(context, winner.answer);
  }
}

/** @throws MusterError CONFLICT where the key was used with other arguments */
async function findSettled(
  { recordedAnswers, clock, hashing }: IdempotencyPorts,
  id: string,
  argumentsHash: string,
): Promise<RecordedAnswer | undefined> {
  const settled = await recordedAnswers.find(id);
  if (settled === undefined || settled.expiresAt <= clock.now()) return undefined;
  if (!hashing.equal(settled.argumentsHash, argumentsHash)) throw keyReused();
  return settled;
}

// How long a request may take, and what is said where a call of it takes longer.

/** Under the 60 s after which clients give up, so that it is us who answer. */
const REQUEST_MILLISECONDS = 50_000;

/** Milliseconds until the request must have been answered, and never less than none. */
export type TimeLeft = () => number;

/** To be made when the request comes in: authentication and all the calls of a batch take from the same time. */
export function timeLeftOfRequest(): TimeLeft {
  const end = performance.now() + REQUEST_MILLISECONDS;
  return () => Math.max(0, end - performance.now());
}

/** @throws MusterError TIMEOUT where the time was over before anything was begun */
export function requireTime(timeLeft: TimeLeft): void {
  if (timeLeft() > 0) return;
  const message = `The ${REQUEST_MILLISECONDS / 1000} seconds of this request were over before the call began: it was not run.`;
  throw new MusterError('TIMEOUT', message, { reason: 'NOT_RUN', suggestion: 'Call again.' });
}

/** What the caller of a late call is told: what it is about, and what to do. */
export type Late = Pick<ErrorDetails, 'about' | 'suggestion'>;

/** What a call knows of its own deadline. */
export interface Punctuality {
  /** A tool that waits leaves of this what it needs to answer. */
  readonly timeLeft: TimeLeft;
  /** Says what the caller is told where the time is over before the answer. What comes later replaces it. */
  ifLate(late: Late): void;
}

/** Of a call that says nothing of its own. */
export const LOOK_FIRST: Late = {
  suggestion: 'Look whether it took effect before you repeat it, or repeat it with its idempotency_key.',
};

/**
 * @param late is asked when it is too late
 * @throws MusterError TIMEOUT where the work takes longer; the work itself goes on
 */
export function withDeadline<T>(
  work: Promise<T>,
  milliseconds: number,
  late: () => Late = () => LOOK_FIRST,
): Promise<T> {
  return within(milliseconds, work, () => {
    const message = `No answer within ${Math.round(milliseconds / 100) / 10} seconds.`;
    return new MusterError('TIMEOUT', message, late());
  });
}
