/** Triggers, consumers and schedules, with lost responses of their commits. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { accountOf } from '../../support/lossyFirestore/account.ts';
import { type Lane, Lanes } from '../../support/lossyFirestore/lanes.ts';
import { type Outcome, tryLosses } from '../../support/lossyFirestore/losses.ts';
import type { Loss } from '../../support/lossyFirestore/proxy.ts';
import { makeTopics } from '../spine/pubsub.ts';
import { type Occasion, occasions } from './occasions.ts';
import { recount } from './recount.ts';
import { Scene, Vendors } from './scene.ts';

/** Fields that vary between runs. */
const CHANCE = new Set(['repository_id']);

/** Functions that write to the Realtime Database, publish or dispatch, and commit nothing in Firestore. */
const WITHOUT_COMMITS = [
  'mirrorPerson for a new member',
  'mirrorTaskQueue for a new task',
  'mirrorTaskQueue for a closed task of a run',
  'mirrorWorkspaces for a new workspace',
  'mirrorTaskUpdates for an event',
  'relayEvent for an event',
];

/** Functions that only write logs. */
const WRITING_NOTHING = ['logDeadLetters'];

const ELSEWHERE = ['mcp', 'executeRun'];

describe("a function's commit with a lost response takes effect once:", function () {
  this.timeout('2m');
  const vendors = new Vendors();
  /** One lane, because a schedule also handles data that other occasions prepared. */
  let lanes: Lanes;
  before(async () => {
    if (process.env['PUBSUB_EMULATOR_HOST']) await makeTopics();
    await vendors.start();
    lanes = await Lanes.open(1, 'demo-lost-triggers');
  });
  after(async () => {
    await lanes.close();
    await vendors.stop();
  });

  it('all functions are tested below', () => {
    const index = readFileSync(new URL('../../../functions/src/index.ts', import.meta.url), 'utf8');
    const functions = [...index.matchAll(/^export \{([^}]+)\}/gm)].flatMap(
      ([, names = '']) => names.match(/\w+/g) ?? [],
    );
    const tested = [...Object.keys(occasions), ...WRITING_NOTHING, ...ELSEWHERE];
    assert.deepEqual(new Set(tested), new Set(functions));
  });

  for (const [name, own] of Object.entries(occasions)) {
    for (const [when, occasion] of Object.entries(own)) {
      const title = `${name} for ${when}`;
      it(title, async () => {
        const all = Number.POSITIVE_INFINITY;
        const { problems, losses } = await tryLosses(lanes, all, (lane, loss) =>
          perform(occasion, lane, loss),
        );
        assert.equal(losses > 0, !WITHOUT_COMMITS.includes(title), `${losses} commits were lost`);
        if (problems.length > 0) assert.fail(problems.join('\n'));
      });
    }
  }

  async function perform(occasion: Occasion, lane: Lane, loss?: Loss): Promise<Outcome> {
    const scene = new Scene(vendors, lane.direct);
    const prepared = await occasion(scene);
    const { deed, about } =
      typeof prepared === 'function' ? { deed: prepared, about: scene.workspace } : prepared;
    const app = scene.through(lane);
    // Ignores commits for data of other tests.
    lane.proxy.begin(loss, (request) => request.includes(about));
    await untilTaken(() => deed(app));
    const { applied, sent, lost } = lane.proxy.seen;
    const account = accountOf(
      { answer: undefined, written: applied },
      { place: scene.workspace, now: scene.now, chance: CHANCE },
    );
    return { problems: await recount(scene, lane.direct), account, commits: sent, lost };
  }
});

/** Retries once after an error, as Firebase does. */
async function untilTaken(deliver: () => Promise<unknown>): Promise<void> {
  try {
    await deliver();
  } catch {
    await deliver();
  }
}
