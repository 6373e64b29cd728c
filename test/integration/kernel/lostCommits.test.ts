/**
 * Loses the request or response of commits in every possible way. Each commit must be applied once, and the caller
 * must get the outcome. For each commit of each tool, test/integration/lostResponses tests one of these ways.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Firestore } from '@google-cloud/firestore';
import type { Change } from '../../../functions/src/composition/changes.ts';
import { changeEffects, changeLoosening, changeWriters } from '../../../functions/src/composition/changes.ts';
import { type CallRecord, StaleWriteError } from '../../../functions/src/kernel/commit.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { idempotencyPath } from '../../../functions/src/kernel/firestore/paths.ts';
import { FirestoreStore } from '../../../functions/src/kernel/firestore/store.ts';
import { systemRandomness } from '../../../functions/src/kernel/platform.ts';
import { FirestoreTaskQueries } from '../../../functions/src/toolsets/coordination/store/queries.ts';
import { FirestoreSessionQueries, ShardCounts } from '../../../functions/src/toolsets/coordination/store/sessions.ts';
import { START, sampleTask, secondsAfterStart } from '../../support/builders.ts';
import { type LossyConnection, LossyConnections } from '../../support/lossyFirestore/connections.ts';
import { reported, waysOf } from '../../support/lossyFirestore/losses.ts';
import { documents } from '../../support/reading.ts';
import { refusal } from '../../support/refusal.ts';

const LANES = 6;

/** Kinds of call records. The kind determines in which document of the commit the commit marker is stored. */
const RECORDS = {
  'with a key': (id: string): CallRecord => ({
    response: { id, arguments_hash: 'hash', answer: { n: 1 }, expires_at: secondsAfterStart(60) },
  }),
  'with an audit entry': (id: string): CallRecord => ({
    by: { uid: 'agent:a', owner_uid: 'ada', tool: 'coordination.update_task', workspace: id, request_id: id },
  }),
  'without a record': (): undefined => undefined,
} satisfies Readonly<Record<string, (id: string) => CallRecord | undefined>>;

describe('a commit whose request or response is lost', function () {
  this.timeout('2m');
  const tasks = new FirestoreTaskQueries(firestore(), documents);
  const sessions = new FirestoreSessionQueries(firestore(), documents, new ShardCounts());
  let connections: LossyConnections;

  before(async () => {
    connections = await LossyConnections.open(LANES);
  });
  after(() => connections.close());

  const storeOf = (database: Firestore) =>
    new FirestoreStore({
      database,
      clock: { now: () => START },
      randomness: systemRandomness,
      effects: changeEffects,
      loosening: changeLoosening,
      writers: changeWriters,
    });

  /** Stores a task that the commit replaces, a dependent and counters. */
  async function fixture({ direct }: LossyConnection) {
    const id = `t-${randomUUID().slice(0, 18)}`;
    const task = sampleTask({ id, workspace: id, session: id });
    const next = { ...task, id: `${id}-next`, blockers: 2 };
    await storeOf(direct).commit([
      { kind: 'createTask', task },
      { kind: 'createTask', task: next },
    ]);
    const version = (await tasks.find(id))?.version ?? '';
    const changes: readonly Change[] = [
      { kind: 'replaceTask', task: { ...task, priority: 1 }, before: task, version },
      { kind: 'dependencyDone', taskId: next.id },
      { kind: 'count', workspace: id, session: id, by: { done: 1 }, at: START },
    ];
    const effects = async () => ({
      priority: (await tasks.find(id))?.value.priority,
      blockers: (await tasks.find(next.id))?.value.blockers,
      done: (await sessions.counters(id, id)).counts.done,
    });
    return { id, task, version, changes, effects };
  }

  for (const [what, recordOf] of Object.entries(RECORDS)) {
    it(`${what} is applied once`, async () => {
      const tried = waysOf(1).map((loss) =>
        connections.use(async (connection) => {
          const { id, changes, effects } = await fixture(connection);
          connection.proxy.begin(loss);
          await storeOf(connection.database).commit(changes, recordOf(id));
          assert.equal(connection.proxy.seen.lost, loss.times ?? 1, reported(loss));
          assert.deepEqual(await effects(), { priority: 1, blockers: 1, done: 1 }, reported(loss));
        }),
      );
      await Promise.all(tried);
    });

    it(`${what} is rejected as stale if an earlier commit has changed one of its documents`, async () => {
      const tried = waysOf(1).map((loss) =>
        connections.use(async (connection) => {
          const { id, task, version, changes, effects } = await fixture(connection);
          const other: Change = { kind: 'replaceTask', task: { ...task, priority: 9 }, before: task, version };
          await storeOf(connection.direct).commit([other]);
          connection.proxy.begin(loss);
          await assert.rejects(
            storeOf(connection.database).commit(changes, recordOf(id)),
            StaleWriteError,
            reported(loss),
          );
          assert.deepEqual(await effects(), { priority: 9, blockers: 2, done: 0 }, reported(loss));
          assert.equal((await connection.direct.doc(idempotencyPath(id)).get()).exists, false, reported(loss));
        }),
      );
      await Promise.all(tried);
    });
  }

  it('is rejected as a repetition if its idempotency key was already used', async () => {
    const tried = waysOf(1).map((loss) =>
      connections.use(async (connection) => {
        const { id, changes, effects } = await fixture(connection);
        const record = RECORDS['with a key'](id);
        await storeOf(connection.direct).commit(changes, record);
        connection.proxy.begin(loss);
        const counted = changes.filter(({ kind }) => kind === 'count');
        const error = await refusal(() => storeOf(connection.database).commit(counted, record));
        assert.equal(error.details.reason, 'ALREADY_SETTLED', reported(loss));
        assert.equal((await effects()).done, 1, reported(loss));
      }),
    );
    await Promise.all(tried);
  });
});
