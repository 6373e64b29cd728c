/**
 * `commits/{id}`: that a caller's write was carried out. It is written with the write, in one request, and the rules
 * let nobody write it twice. So the same request sent again is refused, and the proof tells why. Of a transaction,
 * which cannot be one request with it, it tells what its first attempt built on.
 */

import { z } from 'zod';
import type { Caller } from '../../../access/rules/principal.ts';
import { REPLAY_HOURS } from '../../../kernel/commit.ts';
import { keyReused } from '../../../kernel/errors.ts';
import type { JsonValue } from '../../../kernel/json.ts';
import type { Clock, Randomness } from '../../../kernel/ports.ts';
import { realtimeCommitPath } from '../../../kernel/realtime/database.ts';
import type { Repetition } from '../rules/access.ts';
import { unansweredWrite } from '../rules/errors.ts';
import type { CallerRest } from './rest.ts';

/** A lost answer is asked for within seconds. */
const UNKEYED_HOURS = 1;

const ID_LENGTH = 20;

export const proofValue = z.object({
  arguments_hash: z.string().optional(),
  expires_at: z.number(),
  over: z.string().optional(),
});

export interface WriteProofsDependencies {
  readonly rest: CallerRest;
  readonly clock: Clock;
  readonly randomness: Randomness;
}

/** What a transaction writes over. */
export interface Begun {
  readonly over: string;
  /** Whether an earlier attempt began, which may have written already. */
  readonly isRepeated: boolean;
}

export class WriteProofs {
  private readonly dependencies: WriteProofsDependencies;

  constructor(dependencies: WriteProofsDependencies) {
    this.dependencies = dependencies;
  }

  /**
   * Carries writes out together, exactly once.
   * @param named the path that the caller named
   * @param writes new values by their paths
   */
  async carryOut(
    caller: Caller,
    named: string,
    writes: Readonly<Record<string, JsonValue>>,
    repetition: Repetition | undefined,
  ): Promise<void> {
    const { rest, randomness } = this.dependencies;
    const id = repetition?.id ?? randomness.letters(ID_LENGTH);
    const data = { ...writes, [realtimeCommitPath(id)]: this.proof(caller, repetition) };
    const { refusal, isRepeated } = await rest.write(caller, { method: 'PATCH', path: '', named, data });
    if (refusal === undefined) return;
    if (repetition === undefined && !isRepeated) throw refusal;
    const proof = await this.find(caller, id, repetition).catch((error) => {
      throw isRepeated ? unansweredWrite(error) : error;
    });
    if (proof === undefined) throw refusal;
  }

  /** Whether an earlier attempt of this call was carried out. */
  async isCarriedOut(caller: Caller, repetition: Repetition): Promise<boolean> {
    return (await this.find(caller, repetition.id, repetition)) !== undefined;
  }

  /** Notes what a transaction builds on, or finds what its first attempt built on. */
  async begin(caller: Caller, repetition: Repetition | undefined, over: string): Promise<Begun> {
    if (repetition === undefined) return { over, isRepeated: false };
    const begun = await this.begunBefore(caller, repetition);
    if (begun !== undefined) return begun;
    const data = { ...this.proof(caller, repetition), over };
    const path = realtimeCommitPath(repetition.id);
    const { refusal } = await this.dependencies.rest.write(caller, { method: 'PUT', path, data });
    if (refusal === undefined) return { over, isRepeated: false };
    const other = await this.begunBefore(caller, repetition);
    if (other === undefined) throw refusal;
    return other;
  }

  private async begunBefore(caller: Caller, repetition: Repetition): Promise<Begun | undefined> {
    const found = await this.find(caller, repetition.id, repetition);
    return found?.over === undefined ? undefined : { over: found.over, isRepeated: true };
  }

  private async find(caller: Caller, id: string, repetition: Repetition | undefined) {
    const { data } = await this.dependencies.rest.read(caller, { path: realtimeCommitPath(id) });
    if (data === null) return undefined;
    const found = proofValue.parse(data);
    if (found.expires_at <= this.dependencies.clock.now().getTime()) return undefined;
    if (found.arguments_hash !== repetition?.argumentsHash) throw keyReused();
    return found;
  }

  private proof({ principal }: Caller, repetition: Repetition | undefined) {
    const hours = repetition === undefined ? UNKEYED_HOURS : REPLAY_HOURS;
    return {
      uid: principal.uid,
      expires_at: this.dependencies.clock.now().getTime() + hours * 3_600_000,
      ...(repetition && { arguments_hash: repetition.argumentsHash }),
    };
  }
}
