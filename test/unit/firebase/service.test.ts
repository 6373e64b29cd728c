import assert from 'node:assert/strict';
import type { Caller } from '../../../functions/src/identity/rules/principal.ts';
import type { Operation, RecordedResponse } from '../../../functions/src/kernel/commit.ts';
import type {
  DatabaseAccess,
  DatabaseName,
  ReadRequest,
  WriteRequest,
} from '../../../functions/src/toolsets/firebase/rules/databaseAccess.ts';
import { DataService } from '../../../functions/src/toolsets/firebase/rules/dataService.ts';
import type { FirebasePorts } from '../../../functions/src/toolsets/firebase/rules/ports.ts';
import { portsOf } from '../../support/ports.ts';
import { agentOf } from '../../support/principals.ts';
import { refusal } from '../../support/refusal.ts';

const CALLER: Caller = { principal: agentOf('a', 'person', 'worker'), credential: 'secret' };

const KEYED: Operation = {
  argumentsHash: 'hash',
  recordResponse: (answer) => ({ response: { id: 'id', arguments_hash: 'hash', answer, expires_at: new Date(0) } }),
  derivedSecret: () => 'secret',
  derivedId: (label) => `id-for-${label}`,
};

const UNKEYED: Operation = {
  argumentsHash: undefined,
  recordResponse: () => undefined,
  derivedSecret: () => undefined,
  derivedId: () => undefined,
};

const WRITE: Omit<WriteRequest, 'repetition'> = { operation: 'set', data: { a: 1 }, merge: false, transaction: false };
const READ: ReadRequest = { shallow: false };

/** Returns a service whose databases only record the requests. */
function recording() {
  const asked: (ReadRequest | WriteRequest)[] = [];
  const settled: RecordedResponse[] = [];
  const access: DatabaseAccess = {
    async read(_caller, _path, request) {
      asked.push(request);
      return { data: {}, count: 0, timestamp: new Date(0) };
    },
    async write(_caller, _path, request) {
      asked.push(request);
      return { timestamp: new Date(0) };
    },
    watch: () => ({ stop: () => undefined }),
  };
  const service = new DataService(
    portsOf<FirebasePorts>({
      databases: { firestore: access, realtime: access },
      store: {
        commit: async (_changes, record) => {
          if (record?.response !== undefined) settled.push(record.response);
        },
      },
    }),
  );
  return { service, asked, settled };
}

async function readRefusal(database: DatabaseName, path: string, request: Partial<ReadRequest>) {
  const { service, asked } = recording();
  const error = await refusal(() => service.read(CALLER, database, path, { ...READ, ...request }));
  assert.deepEqual(asked, [], 'the database was asked');
  return error;
}

async function writeRefusal(database: DatabaseName, path: string, request: Partial<WriteRequest>) {
  const { service, asked } = recording();
  const writing = service.write(
    CALLER,
    { database, text: path },
    { ...WRITE, ...request },
    { operation: UNKEYED, recordResponse: () => undefined },
  );
  const error = await refusal(() => writing);
  assert.deepEqual(asked, [], 'the database was asked');
  return error;
}

describe('DataService', () => {
  it('rejects a query with bounds but without an order', async () => {
    for (const query of [{ startAt: 1 }, { endAt: 'z' }])
      assert.equal((await readRefusal('realtime', 'shared', { query })).details.field, 'query.orderBy');
  });

  it('rejects an order if the path names a document', async () => {
    const error = await readRefusal('firestore', 'agents/agent-001', { query: { orderBy: 'name' } });
    assert.match(error.message, /require a collection/);
  });

  it("ignores a limit if the path names a document, as in the specification's example", async () => {
    const { service, asked } = recording();
    await service.read(CALLER, 'firestore', 'agents/agent-001', { ...READ, query: { limit: 10 } });
    assert.equal(asked.length, 1);
  });

  it('reads shallowly only from the Realtime Database, and only without a query', async () => {
    assert.equal((await readRefusal('firestore', 'agents', { shallow: true })).details.field, 'shallow');
    const query = { orderBy: 'a' };
    assert.equal((await readRefusal('realtime', 'shared', { shallow: true, query })).details.field, 'shallow');
  });

  it('writes only to documents, and pushes only to collections', async () => {
    for (const operation of ['set', 'update', 'delete'] as const)
      assert.equal((await writeRefusal('firestore', 'shared', { operation })).details.reason, 'INVALID_PATH');
    const push = await writeRefusal('firestore', 'shared/one', { operation: 'push' });
    assert.equal(push.details.reason, 'INVALID_PATH');
  });

  it('merges data only with the operation set, and only in Firestore', async () => {
    assert.equal((await writeRefusal('realtime', 'shared/a', { merge: true })).details.field, 'merge');
    const update = await writeRefusal('firestore', 'shared/a', { merge: true, operation: 'update' });
    assert.equal(update.details.field, 'merge');
  });

  it('accepts an expected version only in a transaction, and never pushes in a transaction', async () => {
    const version = await writeRefusal('firestore', 'shared/a', { expectedVersion: '1' });
    assert.equal(version.details.field, 'expectedVersion');
    const push = await writeRefusal('firestore', 'shared', { operation: 'push', transaction: true });
    assert.equal(push.details.field, 'transaction');
  });

  it('rejects data that is larger than 1 MiB', async () => {
    const error = await writeRefusal('realtime', 'shared/a', { data: 'x'.repeat(1_048_576) });
    assert.equal(error.details.reason, 'SIZE_LIMIT_EXCEEDED');
  });

  it('derives the key of a push from its idempotency key, and records the response', async () => {
    const { service, asked, settled } = recording();
    const request = { ...WRITE, operation: 'push' as const };
    await service.write(CALLER, { database: 'firestore', text: 'shared' }, request, {
      operation: KEYED,
      recordResponse: () => KEYED.recordResponse({ success: true }),
    });
    assert.deepEqual(asked, [{ ...request, repetition: { id: 'id-for-write', argumentsHash: 'hash' } }]);
    const answers = settled.map(({ answer }) => answer);
    assert.deepEqual(answers, [{ success: true }]);
  });
});
