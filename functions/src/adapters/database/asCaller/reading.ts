/** Reading as the caller. Source: https://firebase.google.com/docs/database/rest/retrieve-data */
import type { ReadOutcome, ReadQuery, ReadRequest } from '../../../domain/data/access.ts';
import type { Caller } from '../../../domain/data/caller.ts';
import { pathNotFound } from '../../../domain/data/errors.ts';
import type { JsonValue } from '../../../domain/json.ts';
import type { Clock } from '../../../domain/ports.ts';
import { entriesOf } from './order.ts';
import { asObject, type Paging } from './paging.ts';
import { type CallerRest, NOTHING_ETAG } from './rest.ts';

export interface ReadingDependencies {
  readonly rest: CallerRest;
  readonly paging: Paging;
  readonly clock: Clock;
}

export class Reading {
  private readonly dependencies: ReadingDependencies;

  constructor(dependencies: ReadingDependencies) {
    this.dependencies = dependencies;
  }

  /** @throws MusterError as domain/data/errors.ts makes them */
  read(caller: Caller, path: string, { query, shallow }: ReadRequest): Promise<ReadOutcome> {
    if (shallow) return this.keys(caller, path);
    return query === undefined ? this.node(caller, path) : this.selection(caller, path, query);
  }

  private async node(caller: Caller, path: string): Promise<ReadOutcome> {
    const { rest, clock } = this.dependencies;
    const { data, etag } = await rest.read(caller, { path, wantsEtag: true });
    if (data === null) throw pathNotFound(path);
    const version = etag === undefined || etag === NOTHING_ETAG ? {} : { version: etag };
    return { data, count: countOf(data), timestamp: clock.now(), ...version };
  }

  private async keys(caller: Caller, path: string): Promise<ReadOutcome> {
    const { rest, clock } = this.dependencies;
    const parameters = { shallow: 'true' };
    const { data } = await rest.read(caller, { path, parameters });
    if (data === null) throw pathNotFound(path);
    return { data, count: countOf(data), timestamp: clock.now() };
  }

  private async selection(caller: Caller, path: string, query: ReadQuery): Promise<ReadOutcome> {
    const { paging, clock } = this.dependencies;
    const { children, nextCursor, missingIndex } = await paging.page(caller, path, query);
    return {
      data: asObject(children),
      count: children.length,
      timestamp: clock.now(),
      ...(nextCursor !== undefined && { nextCursor }),
      ...(missingIndex !== undefined && { missingIndex }),
    };
  }
}

function countOf(data: JsonValue): number {
  return typeof data === 'object' && data !== null ? entriesOf(data).length : 1;
}
