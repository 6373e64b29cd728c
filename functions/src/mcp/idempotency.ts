/** `idempotency_key`: a repeated call gets the first answer. Source: docs/semantics.md#shared. */
import {
  type Operation,
  REPLAY_HOURS,
  type RecordedAnswer,
  UnansweredCommitError,
} from '../kernel/commit.ts';
import { keyReused, MusterError } from '../kernel/errors.ts';
import { canonicalJson, type JsonObject } from '../kernel/json.ts';
import type { KernelPorts } from '../kernel/ports.ts';
import type { Actor } from '../kernel/trail.ts';
import type { CallContext } from './callContext.ts';
import type { PreparedCall } from './tool.ts';

/** Whose call it is and which. */
export interface CallIdentity {
  readonly by: Actor;
  /** The bearer credential: the key of derived secrets, never stored. */
  readonly credential: string;
}

export type IdempotencyPorts = Pick<KernelPorts, 'recordedAnswers' | 'clock' | 'hashing'>;

const ID_LENGTH = 20;

/** The operation of a call that gave no key. */
export function unkeyed(by: Actor): Operation {
  return {
    by,
    argumentsHash: undefined,
    recordAnswer: () => ({ by }),
    derivedSecret: () => undefined,
    derivedId: () => undefined,
  };
}

/** Runs the call, which one with a key does but once. */
export function runOnce(
  ports: IdempotencyPorts,
  identity: CallIdentity,
  prepared: PreparedCall,
  contextWith: (operation: Operation) => CallContext,
): Promise<JsonObject> {
  const { idempotencyKey: key } = prepared;
  if (key === undefined) return prepared.run(contextWith(unkeyed(identity.by)));
  return runKeyed(ports, identity, { prepared, key }, contextWith);
}

/** Runs the call, or replays it where its key has been settled. */
async function runKeyed(
  ports: IdempotencyPorts,
  { by, credential }: CallIdentity,
  { prepared, key }: { readonly prepared: PreparedCall; readonly key: string },
  contextWith: (operation: Operation) => CallContext,
): Promise<JsonObject> {
  const { sha256, hmac } = ports.hashing;
  const id = sha256(JSON.stringify([by.uid, by.tool, by.workspace, key]));
  const argumentsHash = sha256(canonicalJson(prepared.input));
  const context = contextWith({
    by,
    argumentsHash,
    recordAnswer: (answer) => {
      const expiresAt = new Date(ports.clock.now().getTime() + REPLAY_HOURS * 3_600_000);
      return { by, answer: { id, argumentsHash, answer, expiresAt } };
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
