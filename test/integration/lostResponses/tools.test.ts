/** Tools that write: each call takes effect once, even if a commit loses its response. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { wireName } from '../../../functions/src/mcp/names.ts';
import { fullName } from '../../../functions/src/mcp/tool.ts';
import type { ToolResult } from '../../../functions/src/mcp/toolResponse.ts';
import { toolsets } from '../../../functions/src/toolsets/index.ts';
import { runConcurrently } from '../../e2e/support/concurrently.ts';
import { accountOf, short } from '../../support/lossyFirestore/account.ts';
import { connectingThrough, type LossyConnection, LossyConnections } from '../../support/lossyFirestore/connections.ts';
import { type Outcome, tryLosses } from '../../support/lossyFirestore/losses.ts';
import type { Loss } from '../../support/lossyFirestore/proxy.ts';
import { defaultOrNightly } from '../../support/nightly.ts';
import { call } from '../coordination/calls.ts';
import { LostResponseFixture, type Scenario, Vendors } from './fixture.ts';
import { recount } from './recount.ts';
import { scenarios } from './scenarios/all.ts';

/** Number of connections, each for one case at a time. A case mostly waits for the client's retry. */
const LANES = 6;

/** Number of concurrent scenarios. Together, they have enough cases to use all connections. */
const AT_ONCE = 3;

const MAX_COMMITS = 3;

/** Response and document fields that vary between calls. */
const CHANCE = new Set(['repository_id', 'timestamp', 'version', 'secret']);

describe('a tool call whose commit loses its response takes effect once:', function () {
  this.timeout('2m');
  const vendors = new Vendors();
  let connections: LossyConnections;
  let callersLanes: LossyConnections;
  let cases = 0;
  before(async () => {
    firestore(); // Connects to the emulator.
    await vendors.start();
    [connections, callersLanes] = await Promise.all([
      LossyConnections.open(LANES, 'demo-lost-answers'),
      LossyConnections.open(LANES),
    ]);
  });
  after(async () => {
    await Promise.all([connections.close(), callersLanes.close()]);
    await vendors.stop();
    process.stdout.write(`      (${cases} lost commits)\n`);
  });

  it('the tests below cover every tool that writes', () => {
    const writing = toolsets.flatMap(({ name, tools }) =>
      tools.filter(({ annotations }) => !annotations.readOnlyHint).map((tool) => fullName(name, tool.name)),
    );
    assert.deepEqual(new Set(scenarios.map(({ tool }) => tool)), new Set(writing));
  });

  async function loses(scenario: Scenario): Promise<void> {
    // The default run tests only calls with an idempotency key. Calls without one differ only by storing no response.
    const tried = defaultOrNightly([true], { night: [true, false] }).map(async (isKeyed) => {
      const { problems, losses } = await tryLosses(
        isAsCaller(scenario) ? callersLanes : connections,
        MAX_COMMITS,
        (connection, loss) => perform(scenario, isKeyed, connection, loss),
      );
      cases += losses;
      return problems.map((problem) => `${isKeyed ? 'keyed' : 'unkeyed'}, ${problem}`);
    });
    const problems = (await Promise.all(tried)).flat();
    if (problems.length > 0) assert.fail(problems.join('\n'));
  }

  runConcurrently(AT_ONCE, Object.fromEntries(scenarios.map((one) => [`${one.tool} ${one.when}`, () => loses(one)])));

  async function perform(
    scenario: Scenario,
    isKeyed: boolean,
    connection: LossyConnection,
    loss?: Loss,
  ): Promise<Outcome> {
    const asCaller = isAsCaller(scenario);
    const fixture = new LostResponseFixture(vendors, connection.direct);
    const { args, principal = fixture.leader, elsewhere } = await scenario.prepare(fixture);
    const app = fixture.through(connection);
    if (asCaller) await connectingThrough(connection, () => connect(fixture, app));
    const keyed = isKeyed ? { ...args, idempotency_key: randomUUID() } : args;
    const name = wireNameOf(scenario.tool);
    connection.proxy.begin(loss);
    const result = await call(fixture.at({ app }), name, keyed, principal);
    const { applied, sent, lost } = connection.proxy.seen;
    const again = isKeyed ? await call(fixture, name, keyed, principal) : result;
    const problems = [
      ...(isKeyed && sent === 0 ? ['stored no response for its key'] : []),
      ...refusals(result, again),
      ...(await recount(fixture, connection.direct)),
    ];
    const account = accountOf(
      { answer: [result.structuredContent, await elsewhere?.()], written: applied },
      { place: fixture.workspace, now: asCaller ? undefined : fixture.now, chance: CHANCE },
    );
    return { problems, account, commits: sent, lost };
  }

  /** Makes a first call, so that the database client that acts as the caller already exists. */
  async function connect({ leader }: LostResponseFixture, { services }: LostResponseFixture['app']): Promise<void> {
    const caller = { principal: leader, credential: `credential of ${leader.uid}` };
    await services.data.read(caller, 'firestore', 'shared/lost/answers', { shallow: false, query: { limit: 1 } });
  }
});

/** Returns whether the tool acts as the caller, which requires the project of the caller's token. */
function isAsCaller({ tool }: Scenario): boolean {
  return tool.startsWith('firebase.');
}

function wireNameOf(tool: string): string {
  const [toolset = '', name = ''] = tool.split('.');
  return wireName(toolset, name, 'prefixed');
}

/** Returns a problem if the call fails, and another if its repetition with its key returns a different response. */
function refusals({ structuredContent, isError }: ToolResult, again: ToolResult): readonly string[] {
  if (isError) return [`refused: ${short(structuredContent)}`];
  const isSame = isDeepStrictEqual(again.structuredContent, structuredContent);
  return isSame ? [] : [`replayed as ${short(again.structuredContent)}`];
}
