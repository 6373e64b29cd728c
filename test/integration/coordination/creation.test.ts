import assert from 'node:assert/strict';
import { refusal } from '../../support/refusal.ts';
import { Team, unkeyed } from './team.ts';

describe('task creation', () => {
  let team: Team;

  const ids = (tasks: readonly { id: string }[]): string[] => tasks.map((task) => task.id);

  beforeEach(() => {
    team = new Team();
  });

  it('creates a session if none is open, and updates the counters', async () => {
    const [task] = await team.create({ description: 'A', priority: 2, files: ['a.ts'], hints: 'Look' });
    assert.ok(task);
    assert.deepEqual(await team.task(task.id), task);
    assert.deepEqual(
      [task.description, task.priority, task.status, task.context, task.created_at, task.claim_epoch],
      ['A', 2, 'available', { files: ['a.ts'], hints: 'Look' }, team.now, 0],
    );
    assert.deepEqual(await team.counts(), { available: 1 });
  });

  it('stores the tasks of a batch in the given order, with dependencies between them', async () => {
    const tasks = await team.create({}, { dependencies: ['task-1'] }, { dependencies: ['task-1', 'task-2'] });
    const [first, second, third] = await Promise.all(ids(tasks).map((id) => team.task(id)));
    assert.ok(first && second && third);
    assert.deepEqual(ids(tasks), ids(tasks).toSorted());
    assert.deepEqual(third.dependencies, [first.id, second.id]);
    assert.deepEqual([first.blockers, second.blockers, third.blockers], [0, 1, 2]);
    assert.deepEqual([first.dependents, second.dependents], [[second.id, third.id], [third.id]]);
    assert.deepEqual(ids(await team.tasks()), ids(tasks));
  });

  it('creates all tasks of a batch or none', async () => {
    await team.createOne();
    for (const dependencies of [['task-xxx-404'], ['task-9'], ['task-2']]) {
      const error = await refusal(() => team.create({}, { dependencies }, {}));
      assert.equal(error.code, 'VALIDATION_ERROR');
      assert.equal(error.details.field, 'tasks.1.dependencies');
    }
    assert.equal((await team.tasks()).length, 1);
    assert.deepEqual(await team.counts(), { available: 1 });
  });

  it('does not create a session if the call is rejected', async () => {
    await refusal(() => team.create({ dependencies: ['task-xxx-404'] }));
    assert.equal(await team.app.services.coordination.session(team.workspace), undefined);
  });

  it('treats "task-N" in dependencies as a task id if the tasks are not created as a batch', async () => {
    const request = { ...team.request([{}, { dependencies: ['task-1'] }]), isBatch: false };
    const error = await refusal(() => team.app.services.taskCreation.create(request, unkeyed));
    assert.equal(error.message, 'Unknown dependency "task-1".');
  });

  it('rejects a dependency in another workspace or an archived session as unknown', async () => {
    const elsewhere = await new Team().createOne();
    const { services } = team.app;
    await services.coordination.initialize(team.workspace, { goal: 'One' }, unkeyed);
    const archived = await team.createOne();
    await services.coordination.initialize(team.workspace, { goal: 'Two' }, unkeyed);
    for (const { id } of [elsewhere, archived]) {
      const error = await refusal(() => team.create({ dependencies: [id] }));
      assert.deepEqual([error.message, error.details.reason], [`Unknown dependency "${id}".`, 'UNKNOWN_DEPENDENCY']);
    }
  });

  it('sets blockers and failed dependencies from the status of each dependency', async () => {
    const ann = await team.join('ann');
    const [open, done, failed] = await team.create({ priority: 9 }, { priority: 1 }, { priority: 2 });
    assert.ok(open && done && failed);
    await team.claim(ann);
    await team.complete(ann, done.id);
    await team.claim(ann);
    await team.fail(ann, failed.id);
    const all = [open.id, done.id, failed.id];
    const task = await team.createOne({ dependencies: all });
    assert.deepEqual(task.dependencies, all);
    assert.equal(task.blockers, 2);
    assert.deepEqual(task.failed_dependencies, [failed.id]);
    assert.deepEqual((await team.task(open.id)).dependents, [task.id]);
    assert.deepEqual((await team.task(done.id)).dependents, []);
    assert.equal((await team.createOne({ dependencies: [done.id] })).blockers, 0);
  });

  it('does not block a new task if its dependency is completed at the same time', async () => {
    const ann = await team.join('ann');
    for (let round = 0; round < 8; round++) {
      const before = await team.createOne({ priority: 1 });
      assert.equal(await team.claim(ann), before.id);
      const [[created]] = await Promise.all([
        team.anotherInstance().services.taskCreation.create(team.request([{ dependencies: [before.id] }]), unkeyed),
        team.complete(ann, before.id),
      ]);
      assert.ok(created);
      assert.equal((await team.task(created.id)).blockers, 0);
      assert.equal(await team.claim(ann), created.id, 'the created task is claimable');
      await team.complete(ann, created.id);
    }
  });

  it('records all dependents of a task if they are created concurrently', async () => {
    const before = await team.createOne();
    const created = await Promise.all(Array.from({ length: 6 }, () => team.createOne({ dependencies: [before.id] })));
    const { dependents } = await team.task(before.id);
    assert.deepEqual(dependents.toSorted(), ids(created).toSorted());
    assert.deepEqual(await team.counts(), { available: 7 });
  });

  it('creates 500 tasks in one batch, and unblocks 100 of them when their dependency is done', async () => {
    const drafts = Array.from({ length: 500 }, (_, index) =>
      index === 0 || index > 100 ? {} : { dependencies: ['task-1'] },
    );
    const [first] = await team.create(...drafts);
    const ann = await team.join('ann');
    assert.ok(first);
    assert.equal(await team.claim(ann), first.id);
    await team.complete(ann, first.id);
    const claimable = await team.app.coordination.ports.tasks.claimable(first.session, [''], 1000);
    assert.equal(claimable.length, 499);
  });

  it('refuses more than 1000 dependents of one task', async () => {
    const { id } = await team.createOne();
    const { version = '' } = (await team.app.coordination.ports.tasks.find(id)) ?? {};
    const dependents = Array.from({ length: 999 }, (_, index) => `task-other-${index}`);
    await team.app.kernel.store.commit([{ kind: 'addDependents', taskId: id, dependents, version }]);
    const two = [{ dependencies: [id] }, { dependencies: [id] }];
    const error = await refusal(() => team.create(...two));
    assert.deepEqual([error.details.reason, error.details.field], ['TOO_MANY_DEPENDENTS', 'tasks.0.dependencies']);
    await team.createOne({ dependencies: [id] });
    assert.equal((await team.task(id)).dependents.length, 1000);
  });
});
