/** Writing as the caller. Source: https://firebase.google.com/docs/database/rest/save-data */
import type { Caller } from '../../../access/rules/principal.ts';
import { connectionError } from '../../../kernel/errors.ts';
import type { JsonValue } from '../../../kernel/json.ts';
import type { Clock } from '../../../kernel/ports.ts';
import type { DataPath, WriteOutcome, WriteRequest } from '../rules/access.ts';
import {
  invalidDataType,
  overwrittenWrite,
  pathNotFound,
  unansweredWrite,
  writeConflict,
} from '../rules/errors.ts';
import { entriesOf } from './order.ts';
import { type CallerRest, NOTHING_ETAG, type RestAnswer } from './rest.ts';
import { checkedChildren, checkWritable, hasIncrement, holds, incremented, isNothing } from './writable.ts';
import { type Begun, WriteProofs, type WriteProofsDependencies } from './writeProof.ts';

type Written = Omit<WriteOutcome, 'timestamp'>;

interface WritingDependencies extends WriteProofsDependencies {
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

  /** @throws MusterError as toolsets/firebase/rules/errors.ts makes them */
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

// Writing over what is known. A transaction is a conditional request: it writes only over what still has
// the ETag that it builds on. Where its answer is lost, what is there afterwards tells whether it was
// carried out: an ETag is made of the content, so that who has written the same has written the same
// version. Source: https://firebase.google.com/docs/database/rest/save-data

/** What can be an ETag: `*` would be any, and nothing else may become a header. */
const ETAG = /^(?!\*$)[\x21-\x7e]{1,200}$/;

type Children = Readonly<Record<string, JsonValue>>;

type Request = Pick<WriteRequest, 'expectedVersion' | 'repetition'>;

class Transacting {
  private readonly rest: CallerRest;
  private readonly proofs: WriteProofs;

  constructor(rest: CallerRest, proofs: WriteProofs) {
    this.rest = rest;
    this.proofs = proofs;
  }

  /** Replaces a node. Gives the new ETag, where the database tells. */
  async replace(
    caller: Caller,
    path: string,
    data: JsonValue,
    request: Request,
  ): Promise<string | undefined> {
    const { expectedVersion } = request;
    const expected = expectedVersion === undefined ? undefined : etagOf(path, expectedVersion);
    if (expected !== undefined && !hasIncrement(data)) {
      const begun = await this.proofs.begin(caller, request.repetition, expected);
      return this.put(caller, path, data, begun);
    }
    const current = await this.current(caller, path);
    const begun = await this.proofs.begin(caller, request.repetition, expected ?? current.etag);
    if (current.etag === begun.over) return this.put(caller, path, incremented(data, current.data), begun);
    if (begun.isRepeated && holds(current.data, data)) return current.etag;
    throw begun.isRepeated ? overwrittenWrite(path) : conflict(path);
  }

  /** Replaces children of a node: REST knows no conditional update, so the whole is replaced. */
  async update(
    caller: Caller,
    path: string,
    children: Children,
    request: Request,
  ): Promise<string | undefined> {
    const { expectedVersion } = request;
    const current = await this.current(caller, path);
    const expected = expectedVersion === undefined ? current.etag : etagOf(path, expectedVersion);
    const begun = await this.proofs.begin(caller, request.repetition, expected);
    if (current.etag !== begun.over) {
      if (begun.isRepeated && holdsAll(current.data, children)) return current.etag;
      throw begun.isRepeated ? overwrittenWrite(path) : conflict(path);
    }
    if (current.data === null) throw pathNotFound(path);
    const before = new Map(entriesOf(current.data));
    const changed = Object.entries(children).map(
      ([key, child]) => [key, incremented(child, before.get(key) ?? null)] as const,
    );
    return this.put(caller, path, Object.fromEntries([...before, ...changed]), begun);
  }

  private async put(
    caller: Caller,
    path: string,
    data: JsonValue,
    { over: ifMatch, isRepeated: mayBeWritten }: Begun,
  ): Promise<string | undefined> {
    const request = isNothing(data)
      ? ({ method: 'DELETE', path, ifMatch } as const)
      : ({ method: 'PUT', path, data, ifMatch, wantsEtag: true } as const);
    const { etag, refusal, isRepeated } = await this.rest.write(caller, request);
    if (refusal === undefined) return etag;
    if (!isRepeated && !mayBeWritten) throw refusal;
    const after = await this.current(caller, path).catch((error) => {
      throw unansweredWrite(error);
    });
    if (holds(after.data, data)) return after.etag;
    throw overwrittenWrite(path, refusal);
  }

  private async current(caller: Caller, path: string): Promise<Required<RestAnswer>> {
    const { data, etag } = await this.rest.read(caller, { path, wantsEtag: true });
    if (etag === undefined) throw connectionError('an answer without its ETag');
    return { data, etag };
  }
}

function holdsAll(stored: JsonValue, children: Children): boolean {
  const there = new Map(entriesOf(stored));
  return Object.entries(children).every(([key, child]) => holds(there.get(key) ?? null, child));
}

function etagOf(path: string, version: string | null): string {
  if (version === null) return NOTHING_ETAG;
  if (!ETAG.test(version)) throw conflict(path);
  return version;
}

function conflict(path: string) {
  return writeConflict(`"${path}" is not at the version that this write builds on.`);
}
