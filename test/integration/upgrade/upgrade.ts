/**
 * A release that is kept, beside today's Muster over the same data: before it comes, beside it, after it, and after it
 * was taken back. Source: docs/decisions/0043-releases-side-by-side.md.
 */
import assert from 'node:assert/strict';
import { migrate, migrateUntil } from './migration.ts';
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

/** Where both versions are at once. */
const RACE = 'race';

const STORIES: readonly Story[] = [
  ...coordinationStories,
  ...todoStories,
  ...dataStories,
  ...workStories,
  ...peopleStories,
];

/** Declares the tests of one release, whose stories take these courses. */
export function tryUpgradeFrom(release: string, courses: readonly (keyof typeof COURSES)[]): void {
  describe(`version ${release} and today's`, function () {
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
      await stage.deployRules(release);
      old = await stage.start(release);
    });

    after(() => stage?.close());

    it(`is worked with as ${release}`, async () => {
      stage.deliveries.to(old);
      performances.push(...(await cast(stage, old, release, courses)));
      await perform('before', { old });
    });

    it('is migrated, and goes on where it was broken off', async () => {
      for (const parts of [1, 3, 5]) await migrateUntil(parts, stage);
      migrate(stage);
      assert.doesNotMatch(migrate(stage), /[1-9]\d* changed/);
    });

    it('is worked with as both, and each goes on with what the other has done', async () => {
      await stage.deployRules('today');
      today = await stage.start('today');
      await perform('beside', { old, new: today });
      assertShown(await readings(old, casts()), await readings(today, casts()));
    });

    it('is migrated once more, and worked with as today', async () => {
      await old.end();
      migrate(stage);
      await perform('after', { new: today });
    });

    it(`is taken back to ${release}, which goes on with all of it`, async () => {
      const shown = await readings(today, casts());
      await today.end();
      await stage.deployRules(release);
      old = await stage.start(release);
      stage.deliveries.to(old);
      assertShown(await readings(old, casts()), shown);
      await perform('back', { old });
      const unfinished = performances.filter(({ isOver }) => !isOver);
      assert.deepEqual(
        unfinished.map(({ title }) => title),
        [],
      );
    });

    it('is upgraded again; claims are given once, leases end and reminders are sent by either', async () => {
      migrate(stage);
      await stage.deployRules('today');
      today = await stage.start('today');
      stage.deliveries.to(old, today);
      const both = { stage, versions: [old, today], workspace: RACE } as const;
      await raceForClaims(both);
      await endLeases(both);
      await assertArrived(stage);
    });
  });
}

/** Has everybody there, as the release makes them. */
async function cast(
  stage: Stage,
  old: Version,
  release: string,
  courses: readonly (keyof typeof COURSES)[],
): Promise<readonly Performance[]> {
  const performances: Performance[] = [];
  const tools = await old.tools(stage.lead.credential);
  const create = async (name: string) => {
    if (tools.has('access_create_workspace') && name !== 'default')
      await old.call(stage.lead.credential, 'default', 'access_create_workspace', { name });
    await old.call(stage.lead.credential, name, 'coordination_init_coordination', { goal: 'Begin' });
  };
  await create('default');
  await create(RACE);
  await register(old, stage.lead, 'starter', RACE);
  for (const [number, story] of STORIES.entries())
    for (const [index, course] of courses.entries()) {
      if (story.since.localeCompare(release, 'en', { numeric: true }) > 0) continue;
      const workspace = story.workspace ?? `w${number}-${index}`;
      if (story.workspace === undefined) await create(workspace);
      const [lead, worker, other] = await Promise.all([
        stage.lead,
        register(old, stage.lead, `worker-${number}-${index}`, workspace),
        register(old, stage.lead, `other-${number}-${index}`, workspace),
      ]);
      const title = `${story.name}, ${course}`;
      performances.push(new Performance(title, story, COURSES[course], { workspace, lead, worker, other }));
    }
  return performances;
}

function described(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${described(error.cause)}`;
}
