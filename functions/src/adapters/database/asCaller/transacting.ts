/**
 * Writing over what is known. A transaction is a conditional request: it writes only over what still has the ETag
 * that it builds on. Where its answer is lost, what is there afterwards tells whether it was carried out: an ETag is
 * made of the content, so that who has written the same has written the same version.
 * Source: https://firebase.google.com/docs/database/rest/save-data
 */
import type { WriteRequest } from '../../../domain/data/access.ts';
import type { Caller } from '../../../domain/data/caller.ts';
import {
  connectionError,
  overwrittenWrite,
  pathNotFound,
  unansweredWrite,
  writeConflict,
} from '../../../domain/data/errors.ts';
import type { JsonValue } from '../../../domain/json.ts';
import { entriesOf } from './order.ts';
import { type CallerRest, NOTHING_ETAG, type RestAnswer } from './rest.ts';
import { hasIncrement, incremented } from './serverValues.ts';
import { holds, isNothing } from './writable.ts';
import type { Begun, WriteProofs } from './writeProof.ts';

/** What can be an ETag: `*` would be any, and nothing else may become a header. */
const ETAG = /^(?!\*$)[\x21-\x7e]{1,200}$/;

type Children = Readonly<Record<string, JsonValue>>;

type Request = Pick<WriteRequest, 'expectedVersion' | 'repetition'>;

export class Transacting {
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
