/**
 * Upgrade and rollback: the last release and the current version can both work with the data that either has stored.
 * Source: docs/decisions/0008-build-and-deploy.md.
 */
import assert from 'node:assert/strict';
import { register, UpgradeFixture } from './fixture.ts';
import { assertShown, readings } from './reading.ts';
import { COURSES, type Phase, type Scenario, ScenarioRun } from './scenario.ts';
import { coordinationScenarios } from './scenarios/coordination.ts';
import { dataScenarios } from './scenarios/data.ts';
import { peopleScenarios } from './scenarios/people.ts';
import { todoScenarios } from './scenarios/todo.ts';
import { workScenarios } from './scenarios/work.ts';
import { assertArrived, endLeases, raceForClaims } from './together.ts';
import type { Version } from './version.ts';

/** Workspace whose tasks workers claim concurrently at both versions. */
const RACE = 'race';

const STORIES: readonly Scenario[] = [
  ...coordinationScenarios,
  ...todoScenarios,
  ...dataScenarios,
  ...workScenarios,
  ...peopleScenarios,
];

describe('upgrade from the last release', function () {
  this.timeout('5m');
  let fixture: UpgradeFixture;
  let old: Version;
  let today: Version;
  const performances: ScenarioRun[] = [];
  const casts = () => performances.map((performance) => performance.cast);

  const perform = async (phase: Phase, versions: { readonly old?: Version; readonly new?: Version }) => {
    fixture.deliveries.to(...Object.values(versions));
    const ended = await Promise.allSettled(performances.map((one) => one.perform(phase, fixture, versions)));
    await fixture.deliveries.settle();
    const failures = ended.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    if (failures.length > 0) throw new AggregateError(failures, failures.map(described).join('\n'));
  };

  before(async () => {
    fixture = await UpgradeFixture.open();
    await fixture.deployRules('release');
    old = await fixture.start('release');
  });

  after(() => fixture?.close());

  it('before the upgrade, every scenario starts on the last release', async () => {
    fixture.deliveries.to(old);
    performances.push(...(await cast(fixture, old)));
    await perform('before', { old });
  });

  it('during the upgrade, each version continues work of the other version', async () => {
    await fixture.deployRules('today');
    today = await fixture.start('today');
    await perform('beside', { old, new: today });
    assertShown(await readings(old, casts()), await readings(today, casts()));
  });

  it('after the upgrade, the current version continues the work without the release', async () => {
    await old.end();
    await perform('after', { new: today });
  });

  it('after a rollback, the release reads and continues all work of the current version', async () => {
    const shown = await readings(today, casts());
    await today.end();
    await fixture.deployRules('release');
    old = await fixture.start('release');
    fixture.deliveries.to(old);
    assertShown(await readings(old, casts()), shown);
    await perform('back', { old });
    const unfinished = performances.filter(({ isOver }) => !isOver);
    const left = unfinished.map(({ title }) => title);
    assert.deepEqual(left, []);
  });

  it('two versions that run concurrently assign each task once and send each reminder once', async () => {
    await fixture.deployRules('today');
    today = await fixture.start('today');
    fixture.deliveries.to(old, today);
    const both = { fixture, versions: [old, today], workspace: RACE } as const;
    await raceForClaims(both);
    await endLeases(both);
    await assertArrived(fixture);
  });
});

/** Creates the workspaces and agents of all scenarios by calls to the release. */
async function cast(fixture: UpgradeFixture, old: Version): Promise<readonly ScenarioRun[]> {
  const performances: ScenarioRun[] = [];
  const create = async (name: string) => {
    if (name !== 'default') await old.call(fixture.lead.credential, 'default', 'access_create_workspace', { name });
    await old.call(fixture.lead.credential, name, 'coordination_init_coordination', { goal: 'Begin' });
  };
  await create('default');
  await create(RACE);
  await register(old, fixture.lead, 'starter', RACE);
  for (const [number, scenario] of STORIES.entries())
    for (const [index, [course, scenes]] of Object.entries(COURSES).entries()) {
      const workspace = scenario.workspace ?? `w${number}-${index}`;
      if (scenario.workspace === undefined) await create(workspace);
      const [lead, worker, other] = await Promise.all([
        fixture.lead,
        register(old, fixture.lead, `worker-${number}-${index}`, workspace),
        register(old, fixture.lead, `other-${number}-${index}`, workspace),
      ]);
      const title = `${scenario.name}, ${course}`;
      performances.push(new ScenarioRun(title, scenario, scenes, { workspace, lead, worker, other }));
    }
  return performances;
}

function described(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${described(error.cause)}`;
}
