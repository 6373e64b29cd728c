/**
 * Writing as the caller. A transaction is a conditional request: it writes only over what still has the ETag
 * that it read. Source: https://firebase.google.com/docs/database/rest/save-data
 */
import { z } from 'zod';
import type { WriteOutcome, WriteRequest } from '../../../domain/data/access.ts';
import type { Caller } from '../../../domain/data/caller.ts';
import {
  connectionError,
  invalidDataType,
  pathNotFound,
  writeConflict,
} from '../../../domain/data/errors.ts';
import type { DataPath } from '../../../domain/data/path.ts';
import { MusterError } from '../../../domain/errors.ts';
import type { JsonValue } from '../../../domain/json.ts';
import type { Clock } from '../../../domain/ports.ts';
import { entriesOf } from './order.ts';
import { type CallerRest, NOTHING_ETAG, type RestAnswer } from './rest.ts';
import { checkedChildren, checkWritable, isNothing } from './writable.ts';

/** What can be an ETag: `*` would be any, and nothing else may become a header. */
const ETAG = /^(?!\*$)[\x21-\x7e]{1,200}$/;

const pushed = z.object({ name: z.string() });

type Written = Omit<WriteOutcome, 'timestamp'>;

export class Writing {
  private readonly rest: CallerRest;
  private readonly clock: Clock;

  constructor(rest: CallerRest, clock: Clock) {
    this.rest = rest;
    this.clock = clock;
  }

  /** @throws MusterError as domain/data/errors.ts makes them */
  async write(caller: Caller, path: DataPath, request: WriteRequest): Promise<WriteOutcome> {
    const written = await this.perform(caller, path, request);
    return { ...written, timestamp: this.clock.now() };
  }

  private perform(caller: Caller, path: DataPath, request: WriteRequest): Promise<Written> {
    switch (request.operation) {
      case 'set':
        checkWritable(path, request.data);
        return this.replace(caller, path.text, request.data, request);
      case 'update':
        return this.update(caller, path, request);
      case 'push':
        return this.push(caller, path, request);
      case 'delete':
        return this.replace(caller, path.text, null, request);
    }
  }

  /** Writing null removes. */
  private async replace(
    caller: Caller,
    path: string,
    data: JsonValue,
    request: WriteRequest,
  ): Promise<Written> {
    const ifMatch = request.transaction ? await this.expectedEtag(caller, path, request) : undefined;
    return this.put(caller, path, data, ifMatch);
  }

  private async put(
    caller: Caller,
    path: string,
    data: JsonValue,
    ifMatch: string | undefined,
  ): Promise<Written> {
    const condition = ifMatch === undefined ? {} : { ifMatch };
    if (isNothing(data)) {
      await this.rest.send(caller, { method: 'DELETE', path, ...condition });
      return {};
    }
    const request = { method: 'PUT', path, data, wantsEtag: true, ...condition } as const;
    const { etag } = await this.rest.send(caller, request);
    return etag === undefined || etag === NOTHING_ETAG ? {} : { version: etag };
  }

  /** The version that the caller expects, or else the present one. */
  private async expectedEtag(
    caller: Caller,
    path: string,
    { expectedVersion }: WriteRequest,
  ): Promise<string> {
    if (expectedVersion === undefined) return (await this.current(caller, path)).etag;
    return etagOf(path, expectedVersion);
  }

  private async current(caller: Caller, path: string): Promise<Required<RestAnswer>> {
    const { data, etag } = await this.rest.send(caller, { method: 'GET', path, wantsEtag: true });
    if (etag === undefined) throw connectionError('an answer without its ETag');
    return { data, etag };
  }

  private async update(caller: Caller, path: DataPath, request: WriteRequest): Promise<Written> {
    const children = checkedChildren(path, request.data);
    if (request.transaction) return this.updateCurrent(caller, path.text, children, request);
    if (!(await this.rest.exists(caller, path.text))) throw pathNotFound(path.text);
    await this.rest.send(caller, { method: 'PATCH', path: path.text, data: children });
    return {};
  }

  /** REST updates unconditionally only; a conditional update replaces the whole with itself and the changes. */
  private async updateCurrent(
    caller: Caller,
    path: string,
    children: Readonly<Record<string, JsonValue>>,
    { expectedVersion }: WriteRequest,
  ): Promise<Written> {
    const { data, etag } = await this.current(caller, path);
    if (expectedVersion !== undefined && etagOf(path, expectedVersion) !== etag) throw conflict(path);
    if (data === null) throw pathNotFound(path);
    const merged = Object.fromEntries([...entriesOf(data), ...Object.entries(children)]);
    return this.put(caller, path, merged, etag);
  }

  private async push(caller: Caller, path: DataPath, request: WriteRequest): Promise<Written> {
    const { data, repetition } = request;
    checkWritable({ ...path, segments: [...path.segments, 'key'] }, data);
    if (isNothing(data)) {
      throw invalidDataType('data', 'The database stores neither null nor what is empty: nothing to push.');
    }
    if (repetition !== undefined) return this.pushOnce(caller, path.text, data, repetition.id);
    const answer = await this.rest.send(caller, { method: 'POST', path: path.text, data });
    const named = pushed.safeParse(answer.data);
    if (!named.success) throw connectionError('a push without its key');
    return { key: named.data.name };
  }

  private async pushOnce(caller: Caller, path: string, data: JsonValue, key: string): Promise<Written> {
    try {
      await this.put(caller, `${path}/${key}`, data, NOTHING_ETAG);
    } catch (error) {
      // An earlier attempt of this very call has written it.
      if (!(error instanceof MusterError && error.code === 'CONFLICT')) throw error;
    }
    return { key };
  }
}

function etagOf(path: string, version: string | null): string {
  if (version === null) return NOTHING_ETAG;
  if (!ETAG.test(version)) throw conflict(path);
  return version;
}

function conflict(path: string): MusterError {
  return writeConflict(`"${path}" is not at the version that this write builds on.`);
}
