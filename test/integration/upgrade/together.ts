/** What both versions may try at once: claims are given once, leases end at whichever sweeps, reminders are sent once. */
import assert from 'node:assert/strict';
import { z } from 'zod';
import { type Agent, register, type Stage } from './stage.ts';
import type { Version } from './version.ts';

const TASKS = 24;

const HOUR = 3_600_000;

const claimed = z.object({ task: z.object({ id: z.string() }).nullish() });
const created = z.object({ task: z.object({ id: z.string() }) });
const batch = z.object({ task_ids: z.array(z.string()) });
const queue = z.object({ tasks: z.array(z.object({ id: z.string(), status: z.string() })) });

interface Both {
  readonly stage: Stage;
  readonly versions: readonly [Version, Version];
  readonly workspace: string;
}

/** Two workers at each version claim until there is nothing left. */
export async function raceForClaims({ stage, versions, workspace }: Both): Promise<void> {
  const [one] = versions;
  const { lead } = stage;
  await one.call(lead.credential, workspace, 'coordination_init_coordination', { goal: 'Race' });
  const drafts = Array.from({ length: TASKS }, (_, number) => ({ description: `Task ${number}` }));
  const made = await one.call(lead.credential, workspace, 'coordination_create_tasks_batch', {
    tasks: drafts,
  });
  await stage.deliveries.settle();
  const racing = versions.flatMap((version) =>
    [1, 2].map(async (number) => {
      const worker = await register(
        version,
        lead,
        `racer-${number}-${version.name.replaceAll('.', '-')}`,
        workspace,
      );
      return claimAll(version, worker, workspace);
    }),
  );
  const given = (await Promise.all(racing)).flat();
  assert.deepEqual(given.toSorted(), batch.parse(made).task_ids.toSorted());
  await stage.deliveries.settle();
}

async function claimAll(version: Version, worker: Agent, workspace: string): Promise<readonly string[]> {
  const ids: string[] = [];
  for (;;) {
    const answer = await version.call(worker.credential, workspace, 'coordination_claim_task', {
      agent_id: worker.id,
    });
    const { task } = claimed.parse(answer);
    if (!task) return ids;
    ids.push(task.id);
    // Who holds a task is given that one again.
    const done = { agent_id: worker.id, task_id: task.id, output: 'Done' };
    await version.call(worker.credential, workspace, 'coordination_complete_task', done);
  }
}

/** What was claimed at one version is taken back by the other's sweep, and its reminder is sent once. */
export async function endLeases({ stage, versions, workspace }: Both): Promise<void> {
  const { lead } = stage;
  const holders: { readonly id: string; readonly worker: Agent; readonly version: Version }[] = [];
  const reminded: string[] = [];
  for (const [index, version] of versions.entries()) {
    const worker = await register(version, lead, `holder-${index}`, workspace);
    const draft = { description: `Held ${index}`, priority: 1 };
    const task = await version.call(lead.credential, workspace, 'coordination_create_task', draft);
    const { id } = created.parse(task).task;
    const claim = await version.call(worker.credential, workspace, 'coordination_claim_task', {
      agent_id: worker.id,
    });
    assert.equal(claimed.parse(claim).task?.id, id);
    holders.push({ id, worker, version });
    const todo = await version.call(worker.credential, workspace, 'todo_add_task', {
      title: `Remember ${index}`,
    });
    const remind = {
      task_id: created.parse(todo).task.id,
      remind_at: new Date(Date.now() + HOUR).toISOString(),
    };
    await version.call(worker.credential, workspace, 'todo_set_reminder', remind);
    reminded.push(remind.task_id);
  }
  await stage.deliveries.settle();
  stage.moveTime(3 * HOUR);
  for (const { id, worker, version } of holders) {
    const other = versions.find((one) => one !== version) ?? version;
    await stage.deliveries.tick(other, 'sweep');
    const now = queue.parse(await other.call(lead.credential, workspace, 'coordination_get_all_tasks'));
    assert.equal(now.tasks.find((task) => task.id === id)?.status, 'available', `${other.name} swept`);
    const late = { agent_id: worker.id, task_id: id, output: 'Too late' };
    await assert.rejects(version.call(worker.credential, workspace, 'coordination_complete_task', late));
  }
  await Promise.all(versions.map((version) => stage.deliveries.tick(version, 'sendReminders')));
  for (const taskId of reminded) {
    const events = await stage.firestore.collection('events').where('task_id', '==', taskId).get();
    const types = events.docs.map((document) => String(document.get('event_type')));
    assert.equal(
      types.filter((type) => /remind/i.test(type) && /sent|due/i.test(type)).length,
      1,
      String(types),
    );
  }
}

/** Every event of the outbox has arrived, and is known to have arrived, once. */
export async function assertArrived({ firestore }: Stage): Promise<void> {
  if (process.env['PUBSUB_EMULATOR_HOST'] === undefined) return;
  const [events, audit] = await Promise.all([
    firestore.collection('events').count().get(),
    firestore.collection('audit').count().get(),
  ]);
  assert.equal(audit.data().count, events.data().count);
}
