/** Writing as the caller. Source: https://firebase.google.com/docs/database/rest/save-data */
import type { WriteOutcome, WriteRequest } from '../../../domain/data/access.ts';
import type { Caller } from '../../../domain/data/caller.ts';
import { invalidDataType, pathNotFound, unansweredWrite } from '../../../domain/data/errors.ts';
import type { DataPath } from '../../../domain/data/path.ts';
import type { JsonValue } from '../../../domain/json.ts';
import type { Clock } from '../../../domain/ports.ts';
import { type CallerRest, NOTHING_ETAG } from './rest.ts';
import { hasIncrement } from './serverValues.ts';
import { Transacting } from './transacting.ts';
import { checkedChildren, checkWritable, holds, isNothing } from './writable.ts';
import { WriteProofs, type WriteProofsDependencies } from './writeProof.ts';

type Written = Omit<WriteOutcome, 'timestamp'>;

export interface WritingDependencies extends WriteProofsDependencies {
  /** A key that sorts by time, and that nobody else makes. */
  readonly newKey: () => Promise<string>;
}

export class Writing {
  private readonly rest: CallerRest;
  private readonly clock: Clock;
  private readonly newKey: () => Promise<string>;
  private readonly proofs: WriteProofs;
  private readonly transacting: Transacting;

  constructor(dependencies: WritingDependencies) {
    const { rest, clock, newKey } = dependencies;
    this.rest = rest;
    this.clock = clock;
    this.newKey = newKey;
    this.proofs = new WriteProofs(dependencies);
    this.transacting = new Transacting(rest, this.proofs);
  }

  /** @throws MusterError as domain/data/errors.ts makes them */
  async write(caller: Caller, path: DataPath, request: WriteRequest): Promise<WriteOutcome> {
    const written = await this.perform(caller, path, request);
    return { ...written, timestamp: this.clock.now() };
  }

  private async perform(caller: Caller, path: DataPath, request: WriteRequest): Promise<Written> {
    switch (request.operation) {
      case 'set':
        checkWritable(path, request.data);
        return written(await this.replace(caller, path.text, request.data, request));
      case 'update':
        return written(await this.update(caller, path, request));
      case 'push':
        return this.push(caller, path, request);
      case 'delete':
        return written(await this.replace(caller, path.text, null, request));
    }
  }

  /** Writing null removes. Gives the new ETag, where it is known. */
  private async replace(
    caller: Caller,
    path: string,
    data: JsonValue,
    request: WriteRequest,
  ): Promise<string | undefined> {
    const { transaction, repetition } = request;
    if (transaction) return this.transacting.replace(caller, path, data, request);
    if (repetition === undefined && !hasIncrement(data)) return this.put(caller, path, data);
    await this.proofs.carryOut(caller, path, { [path]: data }, repetition);
    return isNothing(data) ? undefined : this.etagOf(caller, path, data);
  }

  /** Sent again, it overwrites whatever was written in between, as if it had come only then. */
  private async put(caller: Caller, path: string, data: JsonValue): Promise<string | undefined> {
    const request = isNothing(data)
      ? ({ method: 'DELETE', path } as const)
      : ({ method: 'PUT', path, data, wantsEtag: true } as const);
    const { etag, refusal, isRepeated } = await this.rest.write(caller, request);
    if (refusal === undefined) return etag;
    // Rules may allow what has been carried out no second time.
    throw isRepeated ? unansweredWrite(refusal) : refusal;
  }

  /** Of what was written a moment ago, unless somebody has written over it. */
  private async etagOf(caller: Caller, path: string, data: JsonValue): Promise<string | undefined> {
    const there = await this.rest.read(caller, { path, wantsEtag: true }).catch(() => undefined);
    return there !== undefined && holds(there.data, data) ? there.etag : undefined;
  }

  private async update(caller: Caller, path: DataPath, request: WriteRequest): Promise<string | undefined> {
    const children = checkedChildren(path, request.data);
    const { transaction, repetition } = request;
    if (transaction) return this.transacting.update(caller, path.text, children, request);
    if (!(await this.rest.exists(caller, path.text))) {
      if (repetition && (await this.proofs.isCarriedOut(caller, repetition))) return undefined;
      throw pathNotFound(path.text);
    }
    if (repetition !== undefined || hasIncrement(children)) {
      const writes = Object.entries(children).map(([key, child]) => [`${path.text}/${key}`, child] as const);
      await this.proofs.carryOut(caller, path.text, Object.fromEntries(writes), repetition);
      return undefined;
    }
    const patch = { method: 'PATCH', path: path.text, data: children } as const;
    const { refusal, isRepeated } = await this.rest.write(caller, patch);
    if (refusal !== undefined) throw isRepeated ? unansweredWrite(refusal) : refusal;
    return undefined;
  }

  private async push(caller: Caller, path: DataPath, request: WriteRequest): Promise<Written> {
    const { data, repetition } = request;
    checkWritable({ ...path, segments: [...path.segments, 'key'] }, data);
    if (isNothing(data)) {
      throw invalidDataType('data', 'The database stores neither null nor what is empty: nothing to push.');
    }
    const key = repetition?.id ?? (await this.newKey());
    await this.proofs.carryOut(caller, path.text, { [`${path.text}/${key}`]: data }, repetition);
    return { key };
  }
}

function written(etag: string | undefined): Written {
  return etag === undefined || etag === NOTHING_ETAG ? {} : { version: etag };
}
