/** Triggers, consumers and schedules: each takes effect once, even if a commit loses its response. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { accountOf } from '../../support/lossyFirestore/account.ts';
import { type LossyConnection, LossyConnections } from '../../support/lossyFirestore/connections.ts';
import { type Outcome, tryLosses } from '../../support/lossyFirestore/losses.ts';
import type { Loss } from '../../support/lossyFirestore/proxy.ts';
import { makeTopics } from '../spine/pubsub.ts';
import { LostResponseFixture, Vendors } from './fixture.ts';
import { type Occasion, occasions } from './occasions.ts';
import { recount } from './recount.ts';

/** Fields that vary from test to test. */
const CHANCE = new Set(['repository_id']);

/** Functions that commit nothing in Firestore. They write to the Realtime Database, publish or dispatch. */
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

const ELSEWHERE = ['mcp', 'executeRun', 'sendMail'];

describe('a function whose commit loses its response takes effect once:', function () {
  this.timeout('2m');
  const vendors = new Vendors();
  /** Uses one connection at a time, because a scheduled function also processes the data of other occasions. */
  let connections: LossyConnections;
  before(async () => {
    if (process.env['PUBSUB_EMULATOR_HOST']) await makeTopics();
    await vendors.start();
    connections = await LossyConnections.open(1, 'demo-lost-triggers');
  });
  after(async () => {
    await connections.close();
    await vendors.stop();
  });

  it('the tests below cover every function of the deployment', () => {
    const entries = ['events', 'http'].map((name) => {
      return readFileSync(new URL(`../../../functions/src/entry/${name}.ts`, import.meta.url), 'utf8');
    });
    const functions = [...entries.join('\n').matchAll(/^export const (\w+)/gm)].map(([, name = '']) => name);
    const tested = [...Object.keys(occasions), ...WRITING_NOTHING, ...ELSEWHERE];
    assert.deepEqual(new Set(tested), new Set(functions));
  });

  for (const [name, own] of Object.entries(occasions))
    for (const [when, occasion] of Object.entries(own)) {
      const title = `${name} for ${when}`;
      it(title, async () => {
        const all = Number.POSITIVE_INFINITY;
        const { problems, losses } = await tryLosses(connections, all, (connection, loss) =>
          perform(occasion, connection, loss),
        );
        assert.equal(losses > 0, !WITHOUT_COMMITS.includes(title), `${losses} commits were lost`);
        if (problems.length > 0) assert.fail(problems.join('\n'));
      });
    }

  async function perform(occasion: Occasion, connection: LossyConnection, loss?: Loss): Promise<Outcome> {
    const fixture = new LostResponseFixture(vendors, connection.direct);
    const prepared = await occasion(fixture);
    const { deed, about } = typeof prepared === 'function' ? { deed: prepared, about: fixture.workspace } : prepared;
    const app = fixture.through(connection);
    // The filter ignores commits for data of other tests.
    connection.proxy.begin(loss, (request) => request.includes(about));
    await untilTaken(() => deed(app));
    const { applied, sent, lost } = connection.proxy.seen;
    const account = accountOf(
      { answer: undefined, written: applied },
      { place: fixture.workspace, now: fixture.now, chance: CHANCE },
    );
    return { problems: await recount(fixture, connection.direct), account, commits: sent, lost };
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
