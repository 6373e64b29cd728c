/** Reads and writes with the caller's rights. Source: the network specification; docs/semantics.md#network. */
import { type AccessDecision, type AccessQuestion, decideAccess } from '../../../access/rules/decision.ts';
import type { Caller } from '../../../identity/rules/principal.ts';
import type { Operation, RecordResponse } from '../../../kernel/commit.ts';
import { Service } from '../../../kernel/ports.ts';
import {
  type DatabaseName,
  type DataPath,
  parsePath,
  type ReadOutcome,
  type ReadRequest,
  type Repetition,
  type WriteOutcome,
  type WriteRequest,
} from './databaseAccess.ts';
import { invalidPath, invalidRequest, permissionDenied, sizeLimitExceeded } from './dataErrors.ts';
import { FreeFormAudit } from './freeForm.ts';
import type { FirebasePorts } from './ports.ts';

/** Maximum size in bytes of a Firestore document and of any single write. Source: docs/semantics.md#network. */
const MAX_DATA_BYTES = 1_048_576;

interface Recorded {
  readonly operation: Operation;
  readonly recordResponse: RecordResponse<WriteOutcome>;
}

export class DataService extends Service<FirebasePorts> {
  private readonly auditTrail = new FreeFormAudit(this.ports);

  async read(caller: Caller, database: DatabaseName, text: string, request: ReadRequest): Promise<ReadOutcome> {
    const path = parsePath(database, text);
    checkRead(path, request);
    requireWorkspaceOf(caller, path, 'read');
    return this.ports.databases[database].read(caller, path, request);
  }

  /**
   * Writes the data, then stores the response under the call's idempotency key, together with the audit entry. If an
   * instance crashes in between, a repeated call finds the write by its commit marker, unless the database could not
   * store a marker.
   */
  async write(
    caller: Caller,
    { database, text }: { readonly database: DatabaseName; readonly text: string },
    request: Omit<WriteRequest, 'repetition'>,
    { operation, recordResponse }: Recorded,
  ): Promise<WriteOutcome> {
    const path = parsePath(database, text);
    checkWrite(path, request);
    const isPush = request.operation === 'push';
    const { permission, workspace } = requireWorkspaceOf(caller, path, isPush ? 'push' : 'write');
    const repetition = repetitionOf(operation);
    const write = () => this.ports.databases[database].write(caller, path, { ...request, repetition });
    // Only free-form data, which is below `messages` and `shared`, has such a permission.
    const isFreeForm = typeof permission.where === 'object' && 'first' in permission.where;
    const { outcome, changes } =
      workspace !== undefined && isFreeForm && operation.by !== undefined
        ? await this.auditTrail.audited(caller, path, workspace, { isPush, write })
        : { outcome: await write(), changes: [] };
    await this.ports.store.commit(changes, recordResponse(outcome));
    return outcome;
  }
}

/**
 * Denies access to paths of a workspace in which the caller has no role. This check precedes any database call, so
 * removed members lose access immediately, even if a database's security rules do not know of the removal yet.
 * @throws MusterError with reason PERMISSION_DENIED
 */
export function requireWorkspaceOf(
  { principal }: Caller,
  { database, text: path }: DataPath,
  operation: AccessQuestion['operation'],
): AccessDecision {
  const decision = decideAccess(principal, { database, path, operation });
  const { permission, workspace, role } = decision;
  const isNamed = typeof permission.where === 'object' && !('field' in permission.where);
  if (isNamed && workspace !== undefined && role === undefined) throw permissionDenied(path, NO_ROLE);
  return decision;
}

/** Text for the log only. */
const NO_ROLE = 'The caller has no role in the workspace that the path names.';

function repetitionOf(operation: Operation): Repetition | undefined {
  const { argumentsHash } = operation;
  const id = operation.derivedId('write');
  return id === undefined || argumentsHash === undefined ? undefined : { id, argumentsHash };
}

function checkRead(path: DataPath, { query, shallow }: ReadRequest): void {
  if (shallow && path.database === 'firestore')
    throw invalidRequest('shallow', 'shallow works only for the Realtime Database.', 'Omit shallow.');
  if (query === undefined) return;
  const { orderBy, startAt, endAt, cursor } = query;
  if (orderBy === undefined && (startAt !== undefined || endAt !== undefined))
    throw invalidRequest('query.orderBy', 'startAt and endAt require orderBy.', 'Set orderBy to a field.');
  const ordered = orderBy !== undefined || cursor !== undefined;
  if (path.kind === 'document' && ordered)
    throw invalidRequest('query', 'orderBy and cursor require a collection.', 'Read the parent collection.');
  if (shallow && (ordered || query.limit !== undefined))
    throw invalidRequest('shallow', 'shallow cannot be combined with query.', 'Use either shallow or query.');
}

function checkWrite(path: DataPath, request: Omit<WriteRequest, 'repetition'>): void {
  const { operation, data, merge, transaction, expectedVersion } = request;
  const pushesInto = operation === 'push' ? 'collection' : 'document';
  if (path.database === 'firestore' && path.kind !== pushesInto) throw wrongKind(path, operation);
  if (merge && (operation !== 'set' || path.database !== 'firestore'))
    throw invalidRequest('merge', 'merge requires the operation set on Firestore.', 'Use update to keep other fields.');
  if (transaction && operation === 'push')
    throw invalidRequest('transaction', 'push creates a new key and cannot be combined with transaction.');
  if (expectedVersion !== undefined && !transaction)
    throw invalidRequest('expectedVersion', 'expectedVersion requires transaction: true.');
  const bytes = new TextEncoder().encode(JSON.stringify(data)).length;
  if (bytes > MAX_DATA_BYTES)
    throw sizeLimitExceeded(
      'data',
      `The data has ${bytes} bytes of JSON; the maximum is ${MAX_DATA_BYTES}.`,
      'Split it across several paths.',
    );
}

function wrongKind({ text }: DataPath, operation: WriteRequest['operation']) {
  return operation === 'push'
    ? invalidPath(text, 'is a document (even number of segments), but push requires a collection')
    : invalidPath(
        text,
        `is a collection (odd number of segments), but ${operation} requires a document`,
        'Add a document id, or use push to create a document.',
      );
}
