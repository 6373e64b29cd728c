/** Reads and writes the Realtime Database through the server's data service. Omitted arguments get defaults. */

import { compose } from '../../../functions/src/composition/compose.ts';
import type { Caller } from '../../../functions/src/identity/rules/principal.ts';
import type { JsonValue } from '../../../functions/src/kernel/json.ts';
import { realtimeDatabase } from '../../../functions/src/kernel/realtime/database.ts';
import type { ReadQuery, WriteRequest } from '../../../functions/src/toolsets/firebase/rules/databaseAccess.ts';
import { externalServicesOf } from '../../support/externalServices.ts';
import { agentCaller, UNKEYED } from './callers.ts';

const { data } = compose(externalServicesOf()).services;

export const worker = agentCaller('worker');

export const read = (path: string, query?: ReadQuery, caller = worker) =>
  data.read(caller, 'realtime', path, { shallow: false, ...(query && { query }) });

export const keys = (path: string) => data.read(worker, 'realtime', path, { shallow: true });

export function write(path: string, value: JsonValue, request: Partial<WriteRequest> = {}, caller: Caller = worker) {
  const { repetition, ...rest } = request;
  const complete: WriteRequest = { operation: 'set', data: value, merge: false, transaction: false, ...rest };
  const operation = { ...UNKEYED, argumentsHash: repetition?.argumentsHash, derivedId: () => repetition?.id };
  return data.write(caller, { database: 'realtime', text: path }, complete, {
    operation,
    recordResponse: () => undefined,
  });
}

/** Returns the value that is stored at the path. The security rules do not apply to this read. */
export async function stored(path: string): Promise<unknown> {
  const database = await realtimeDatabase();
  return (await database.ref(path).get()).val();
}
