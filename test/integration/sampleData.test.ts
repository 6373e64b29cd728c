/** The sample data of npm start must contain everything that the README describes. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createSampleData } from '../../emulator-data/sampleData.ts';
import { firestore } from '../../functions/src/kernel/firestore/client.ts';

describe('the sample data of npm start', () => {
  const workspace = `story-${randomUUID().slice(0, 8)}`;
  const ownerUid = `person-${randomUUID()}`;
  const rowsOf = async (collection: string, field: string, value: string) =>
    (await firestore().collection(collection).where(field, '==', value).get()).docs.map((one) => one.data());

  before(() => createSampleData({ workspace, ownerUid }));

  it('contains tasks in each status (two can never start), and a coding task with a log', async () => {
    const tasks = await rowsOf('tasks', 'workspace', workspace);
    const statuses: Record<string, number> = {};
    for (const { status } of tasks) statuses[status] = (statuses[status] ?? 0) + 1;
    assert.deepEqual(statuses, { done: 2, failed: 1, available: 4, in_progress: 3 });
    assert.equal(tasks.filter(({ stuck, failed_dependencies: failed }) => stuck || failed.length > 0).length, 2);
    const coding = tasks.find((task) => task['coding'] !== null);
    assert.ok(coding);
    const logs = await firestore().collection(`tasks/${coding['id']}/logs`).get();
    assert.equal(logs.docs[0]?.data()['lines'], 8);
  });

  it('contains an open question, a successful run, and a week of to-dos', async () => {
    const [question, ...more] = await rowsOf('requests', 'workspace', workspace);
    assert.deepEqual([question?.['state'], question?.['asked_of'], more], ['open', ownerUid, []]);
    const [run] = await rowsOf('runs', 'workspace', workspace);
    assert.equal(run?.['status'], 'succeeded', JSON.stringify(run));
    assert.ok(run['spent'].cost_usd > 0);
    const todos = await rowsOf('todos', 'owner_uid', ownerUid);
    assert.equal(todos.length, 6);
    assert.equal(todos.filter((todo) => todo['delegated_task_id'] !== null).length, 1);
  });

  it('spans two days, and has one available task that any agent can claim', async () => {
    const tasks = await rowsOf('tasks', 'workspace', workspace);
    const times = tasks.map(({ created_at: at }) => at.toMillis());
    assert.ok(Math.max(...times) - Math.min(...times) > 36 * 3_600_000);
    const open = tasks.filter(({ status, blockers }) => status === 'available' && blockers === 0);
    const unrestricted = open.filter(({ required_capabilities: needed }) => needed.length === 0);
    const descriptions = unrestricted.map(({ description }) => description);
    assert.deepEqual(descriptions, ['Say in one sentence what the export is good for']);
  });
});
