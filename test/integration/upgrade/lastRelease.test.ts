/**
 * The last release and this version on shared data, through an upgrade and a rollback. Source:
 * docs/decisions/0008-build-and-deploy.md.
 */
import assert from 'node:assert/strict';
import { assertShown, readings } from './reading.ts';
import { register, Stage } from './stage.ts';
import { coordinationStories } from './stories/coordination.ts';
import { dataStories } from './stories/data.ts';
import { peopleStories } from './stories/people.ts';
import { todoStories } from './stories/todo.ts';
import { workStories } from './stories/work.ts';
import { COURSES, Performance, type Phase, type Story } from './story.ts';
import { assertArrived, endLeases, raceForClaims } from './together.ts';
import type { Version } from './version.ts';

/** Workspace in which both versions run concurrently. */
const RACE = 'race';

const STORIES: readonly Story[] = [
  ...coordinationStories,
  ...todoStories,
  ...dataStories,
  ...workStories,
  ...peopleStories,
];

describe('the last release and this version', function () {
  this.timeout('5m');
  let stage: Stage;
  let old: Version;
  let today: Version;
  const performances: Performance[] = [];
  const casts = () => performances.map((performance) => performance.cast);

  const perform = async (phase: Phase, versions: { readonly old?: Version; readonly new?: Version }) => {
    stage.deliveries.to(...Object.values(versions));
    const ended = await Promise.allSettled(performances.map((one) => one.perform(phase, stage, versions)));
    await stage.deliveries.settle();
    const failures = ended.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    if (failures.length > 0) throw new AggregateError(failures, failures.map(described).join('\n'));
  };

  before(async () => {
    stage = await Stage.open();
    await stage.deployRules('release');
    old = await stage.start('release');
  });

  after(() => stage?.close());

  it('start with only the release', async () => {
    stage.deliveries.to(old);
    performances.push(...(await cast(stage, old)));
    await perform('before', { old });
  });

  it('serve side by side, and each continues work of the other', async () => {
    await stage.deployRules('today');
    today = await stage.start('today');
    await perform('beside', { old, new: today });
    assertShown(await readings(old, casts()), await readings(today, casts()));
  });

  it('are upgraded to only this version', async () => {
    await old.end();
    await perform('after', { new: today });
  });

  it('are rolled back: the release reads and continues all data of this version', async () => {
    const shown = await readings(today, casts());
    await today.end();
    await stage.deployRules('release');
    old = await stage.start('release');
    stage.deliveries.to(old);
    assertShown(await readings(old, casts()), shown);
    await perform('back', { old });
    const unfinished = performances.filter(({ isOver }) => !isOver);
    assert.deepEqual(
      unfinished.map(({ title }) => title),
      [],
    );
  });

  it('assign each task once, end leases and send reminders, at either version', async () => {
    await stage.deployRules('today');
    today = await stage.start('today');
    stage.deliveries.to(old, today);
    const both = { stage, versions: [old, today], workspace: RACE } as const;
    await raceForClaims(both);
    await endLeases(both);
    await assertArrived(stage);
  });
});

/** Creates the workspaces and agents of all scenarios, with the release. */
async function cast(stage: Stage, old: Version): Promise<readonly Performance[]> {
  const performances: Performance[] = [];
  const create = async (name: string) => {
    if (name !== 'default')
      await old.call(stage.lead.credential, 'default', 'access_create_workspace', { name });
    await old.call(stage.lead.credential, name, 'coordination_init_coordination', { goal: 'Begin' });
  };
  await create('default');
  await create(RACE);
  await register(old, stage.lead, 'starter', RACE);
  for (const [number, story] of STORIES.entries())
    for (const [index, [course, scenes]] of Object.entries(COURSES).entries()) {
      const workspace = story.workspace ?? `w${number}-${index}`;
      if (story.workspace === undefined) await create(workspace);
      const [lead, worker, other] = await Promise.all([
        stage.lead,
        register(old, stage.lead, `worker-${number}-${index}`, workspace),
        register(old, stage.lead, `other-${number}-${index}`, workspace),
      ]);
      const title = `${story.name}, ${course}`;
      performances.push(new Performance(title, story, scenes, { workspace, lead, worker, other }));
    }
  return performances;
}

function described(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${described(error.cause)}`;
}
