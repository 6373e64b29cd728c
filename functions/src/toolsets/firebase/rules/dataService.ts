/** Reading and writing as the caller. Source: the network specification, "Firebase Tools"; docs/semantics.md#network. */
import { type AccessDecision, type AccessQuestion, decideAccess } from '../../../access/rules/decision.ts';
import type { Caller } from '../../../identity/rules/principal.ts';
import type { Operation, RecordAnswer } from '../../../kernel/commit.ts';
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
import { FreeFormTrail } from './freeForm.ts';
import type { FirebasePorts } from './ports.ts';

/** What Firestore holds in a document, and what one write may bring to either database. Source: docs/semantics.md#network. */
const MAX_DATA_BYTES = 1_048_576;

interface Recorded {
  readonly operation: Operation;
  readonly recordAnswer: RecordAnswer<WriteOutcome>;
}

export class DataService {
  private readonly ports: FirebasePorts;
  private readonly trail: FreeFormTrail;

  constructor(ports: FirebasePorts) {
    this.ports = ports;
    this.trail = new FreeFormTrail(ports);
  }

  async read(
    caller: Caller,
    database: DatabaseName,
    text: string,
    request: ReadRequest,
  ): Promise<ReadOutcome> {
    const path = parsePath(database, text);
    checkRead(path, request);
    requireWorkspaceOf(caller, path, 'read');
    return this.ports.databases[database].read(caller, path, request);
  }

  /**
   * Writes, and then stores the answer under the call's idempotency key, with what the trail tells of it. An instance
   * that dies in between leaves the write without that record: the repetition then finds the write's own trace, where
   * the database can keep one with the write.
   */
  async write(
    caller: Caller,
    { database, text }: { readonly database: DatabaseName; readonly text: string },
    request: Omit<WriteRequest, 'repetition'>,
    { operation, recordAnswer }: Recorded,
  ): Promise<WriteOutcome> {
    const path = parsePath(database, text);
    checkWrite(path, request);
    const isPush = request.operation === 'push';
    const { permission, workspace } = requireWorkspaceOf(caller, path, isPush ? 'push' : 'write');
    const repetition = repetitionOf(operation);
    const write = () => this.ports.databases[database].write(caller, path, { ...request, repetition });
    const isTold = isFreeForm(permission) && operation.by !== undefined;
    if (workspace === undefined || !isTold) {
      const outcome = await write();
      await this.ports.store.commit([], recordAnswer(outcome));
      return outcome;
    }
    const { outcome, effect } = await this.trail.told(caller, path, workspace, { isPush, write });
    await this.ports.store.commit([{ kind: 'tell', effect }], recordAnswer(outcome));
    return outcome;
  }
}

/**
 * Keeps a caller out of a workspace that the path itself names, and in which it has no role, before a database is
 * asked: who was removed a moment ago is out at once, however late a database's rules hear of it. All else the rules
 * decide.
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

/** What callers themselves write for others: `messages` and `shared`. */
function isFreeForm({ where }: AccessDecision['permission']): boolean {
  return typeof where === 'object' && 'first' in where;
}

/** For the log. */
const NO_ROLE = 'no role in the workspace that the path names';

function repetitionOf(operation: Operation): Repetition | undefined {
  const { argumentsHash } = operation;
  const id = operation.derivedId('write');
  return id === undefined || argumentsHash === undefined ? undefined : { id, argumentsHash };
}

function checkRead(path: DataPath, { query, shallow }: ReadRequest): void {
  if (shallow && path.database === 'firestore') {
    throw invalidRequest('shallow', 'Only the Realtime Database reads keys alone.', 'Leave shallow out.');
  }
  if (query === undefined) return;
  const { orderBy, startAt, endAt, cursor } = query;
  if (orderBy === undefined && (startAt !== undefined || endAt !== undefined)) {
    throw invalidRequest('query.orderBy', 'startAt and endAt need orderBy.', 'Name the field to order by.');
  }
  const ordered = orderBy !== undefined || cursor !== undefined;
  if (path.kind === 'document' && ordered) {
    throw invalidRequest('query', 'A document has no order.', 'Read the collection above it.');
  }
  if (shallow && (ordered || query.limit !== undefined)) {
    throw invalidRequest('shallow', 'shallow goes with no query.', 'Use either shallow or query.');
  }
}

function checkWrite(path: DataPath, request: Omit<WriteRequest, 'repetition'>): void {
  const { operation, data, merge, transaction, expectedVersion } = request;
  const pushesInto = operation === 'push' ? 'collection' : 'document';
  if (path.database === 'firestore' && path.kind !== pushesInto) throw wrongKind(path, operation);
  if (merge && (operation !== 'set' || path.database !== 'firestore')) {
    throw invalidRequest('merge', 'merge goes with set on Firestore.', 'Use update to keep other fields.');
  }
  if (transaction && operation === 'push') {
    throw invalidRequest('transaction', 'A push writes where nothing is: it needs no transaction.');
  }
  if (expectedVersion !== undefined && !transaction) {
    throw invalidRequest('expectedVersion', 'expectedVersion goes with transaction: true.');
  }
  const bytes = new TextEncoder().encode(JSON.stringify(data)).length;
  if (bytes > MAX_DATA_BYTES) {
    throw sizeLimitExceeded(
      'data',
      `One write may bring ${MAX_DATA_BYTES} bytes of JSON; this one brings ${bytes}.`,
      'Split it over several paths.',
    );
  }
}

function wrongKind({ text }: DataPath, operation: WriteRequest['operation']) {
  return operation === 'push'
    ? invalidPath(text, 'names a document, by its even number of segments; push adds to a collection')
    : invalidPath(
        text,
        `names a collection, by its odd number of segments; ${operation} works on a document`,
        'Add the id of a document, or use push for a new one.',
      );
}
