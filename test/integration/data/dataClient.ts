import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type Composition, compose } from '../../../functions/src/composition/compose.ts';
import type { Caller } from '../../../functions/src/identity/rules/principal.ts';
import type { MusterError } from '../../../functions/src/kernel/errors.ts';
import type { JsonValue } from '../../../functions/src/kernel/json.ts';
import { systemClock } from '../../../functions/src/kernel/platform.ts';
import type {
  DatabaseName,
  ReadOutcome,
  ReadQuery,
  WriteOutcome,
  WriteRequest,
} from '../../../functions/src/toolsets/firebase/rules/databaseAccess.ts';
import { externalServicesOf } from '../../support/externalServices.ts';
import { refusal } from '../../support/refusal.ts';
import { UNKEYED } from './callers.ts';

/** The data service of one instance, with defaults for the arguments that a test omits. */
export class DataClient {
  readonly app: Composition;
  private readonly database: DatabaseName;

  constructor(database: DatabaseName, clock = systemClock) {
    this.app = compose(externalServicesOf({ clock }));
    this.database = database;
  }

  read(caller: Caller, path: string, query?: ReadQuery): Promise<ReadOutcome> {
    return this.app.services.data.read(caller, this.database, path, { shallow: false, ...(query && { query }) });
  }

  write(
    caller: Caller,
    path: string,
    data: JsonValue,
    { repetition, ...request }: Partial<WriteRequest> = {},
  ): Promise<WriteOutcome> {
    return this.app.services.data.write(
      caller,
      { database: this.database, text: path },
      { operation: 'set', merge: false, transaction: false, ...request, data },
      {
        operation: { ...UNKEYED, argumentsHash: repetition?.argumentsHash, derivedId: () => repetition?.id },
        recordResponse: () => undefined,
      },
    );
  }
}

/** Returns the error with which the work fails. Asserts that the error has this `reason`. */
export async function refusedFor(reason: string, work: Promise<unknown>): Promise<MusterError> {
  const error = await refusal(() => work);
  assert.equal(error.details.reason, reason, error.message);
  return error;
}

export const unique = (): string => randomUUID().slice(0, 13);
