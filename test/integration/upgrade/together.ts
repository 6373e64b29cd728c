/** Concurrent work of both versions. Each task is claimed once, and the sweep of each version ends expired leases. */
import assert from 'node:assert/strict';
import { z } from 'zod';
import { type Agent, register, type UpgradeFixture } from './fixture.ts';
import type { Version } from './version.ts';

const TASKS = 24;

/** Longer than the default lease of 30 minutes, so that claims that are not renewed expire. */
const LAPSE_MS = 3 * 3_600_000;

const claimed = z.object({ task: z.object({ id: z.string() }).nullish() });
const created = z.object({ task: z.object({ id: z.string() }) });
const batch = z.object({ task_ids: z.array(z.string()) });

interface Both {
  readonly fixture: UpgradeFixture;
  readonly versions: readonly [Version, Version];
  readonly workspace: string;
}

/** Lets two workers per version claim and complete tasks, and asserts that each task was claimed once. */
export async function raceForClaims({ fixture, versions, workspace }: Both): Promise<void> {
  const [one] = versions;
  const { lead } = fixture;
  await one.call(lead.credential, workspace, 'coordination_init_coordination', { goal: 'Race' });
  const drafts = Array.from({ length: TASKS }, (_, number) => ({ description: `Task ${number}` }));
  const made = await one.call(lead.credential, workspace, 'coordination_create_tasks_batch', { tasks: drafts });
  await fixture.deliveries.settle();
  const racing = versions.flatMap((version) =>
    [1, 2].map(async (number) => {
      const worker = await register(version, lead, `racer-${number}-${version.name.replaceAll('.', '-')}`, workspace);
      return claimAll(version, worker, workspace);
    }),
  );
  const given = (await Promise.all(racing)).flat();
  assert.deepEqual(given.toSorted(), batch.parse(made).task_ids.toSorted());
  await fixture.deliveries.settle();
}

async function claimAll(version: Version, worker: Agent, workspace: string): Promise<readonly string[]> {
  const ids: string[] = [];
  for (;;) {
    const answer = await version.call(worker.credential, workspace, 'coordination_claim_task', { agent_id: worker.id });
    const { task } = claimed.parse(answer);
    if (!task) return ids;
    ids.push(task.id);
    // Completes the task, because the next claim would otherwise return it again.
    const done = { agent_id: worker.id, task_id: task.id, output: 'Done' };
    await version.call(worker.credential, workspace, 'coordination_complete_task', done);
  }
}

/** Asserts that each version's sweep releases tasks claimed at the other one, and that each reminder is sent once. */
export async function endLeases({ fixture, versions, workspace }: Both): Promise<void> {
  const reminded: string[] = [];
  for (const [index, version] of versions.entries()) {
    const other = versions[1 - index] ?? version;
    const [holder, taker] = [
      await register(version, fixture.lead, `holder-${index}`, workspace),
      await register(other, fixture.lead, `taker-${index}`, workspace),
    ];
    const draft = { description: `Held ${index}`, priority: 1 };
    await version.call(fixture.lead.credential, workspace, 'coordination_create_task', draft);
    const id = await claimOne(version, holder, workspace);
    const started = index * LAPSE_MS;
    const remind_at = new Date(Date.now() + started + LAPSE_MS / 2).toISOString();
    reminded.push(await remind(version, holder, workspace, remind_at));
    await fixture.deliveries.settle();
    fixture.moveTime(started + LAPSE_MS);
    await fixture.deliveries.tick(other, 'sweep');
    assert.equal(await claimOne(other, taker, workspace), id, `the sweep of ${other.name} releases the task`);
    const complete = (at: Version, who: Agent, output: string) =>
      at.call(who.credential, workspace, 'coordination_complete_task', { agent_id: who.id, task_id: id, output });
    await complete(version, holder, 'Too late').catch(() => undefined);
    await complete(other, taker, 'In time');
    const results = await version.call(fixture.lead.credential, workspace, 'coordination_get_results', {
      task_ids: [id],
    });
    assert.match(JSON.stringify(results), /In time/);
  }
  await Promise.all(versions.map((version) => fixture.deliveries.tick(version, 'sendReminders')));
  for (const taskId of reminded) {
    const events = await fixture.firestore.collection('events').where('task_id', '==', taskId).get();
    const types = events.docs.map((document) => String(document.get('event_type')));
    assert.equal(types.filter((type) => type === 'reminder').length, 1, String(types));
  }
}

async function claimOne(version: Version, { id, credential }: Agent, workspace: string): Promise<string> {
  const answer = await version.call(credential, workspace, 'coordination_claim_task', { agent_id: id });
  return String(claimed.parse(answer).task?.id);
}

async function remind(version: Version, who: Agent, workspace: string, remind_at: string): Promise<string> {
  const todo = await version.call(who.credential, workspace, 'todo_add_task', { title: `Remember ${who.id}` });
  const { id } = created.parse(todo).task;
  await version.call(who.credential, workspace, 'todo_set_reminder', { task_id: id, remind_at });
  return id;
}

/** Asserts that every to-do event has a receipt: both collections have the same number of documents. */
export async function assertArrived({ firestore }: UpgradeFixture): Promise<void> {
  if (process.env['PUBSUB_EMULATOR_HOST'] === undefined) return;
  const [events, audit] = await Promise.all([
    firestore.collection('events').count().get(),
    firestore.collection('audit').count().get(),
  ]);
  assert.equal(audit.data().count, events.data().count);
}
