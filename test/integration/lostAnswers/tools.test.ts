/** Every tool that writes, with the answer of each of its commits lost: once is once, whatever the client is told. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { firestore } from '../../../functions/src/adapters/firestore/client.ts';
import { fullName, wireName } from '../../../functions/src/mcp/names.ts';
import type { ToolResult } from '../../../functions/src/mcp/projection.ts';
import { toolsets } from '../../../functions/src/toolsets/index.ts';
import { type Account, accountOf } from '../../support/lossyFirestore/account.ts';
import { connectingThrough, type Lane, Lanes } from '../../support/lossyFirestore/lanes.ts';
import { LOST, type Loss, type LostStatus } from '../../support/lossyFirestore/proxy.ts';
import { call } from '../coordination/calls.ts';
import { recount } from './recount.ts';
import { coding } from './scenarios/coding.ts';
import { coordination } from './scenarios/coordination.ts';
import { orchestration } from './scenarios/orchestration.ts';
import { firebase, github, onboarding } from './scenarios/others.ts';
import { todo } from './scenarios/todo.ts';
import { type Scenario, Scene, Vendors } from './scene.ts';

const scenarios: readonly Scenario[] = [
  ...onboarding,
  ...firebase,
  ...github,
  ...coordination,
  ...todo,
  ...orchestration,
  ...coding,
];

/** Cases at once: most of each is the client's wait before it sends again. */
const LANES = 6;

const MOST_COMMITS = 3;

/** Of what differs, in characters. */
const SHOWN = 300;

/** What differs from one time to the next. */
const CHANCE = new Set(['timestamp', 'version', 'secret']);

const STATUSES = Object.keys(LOST) as readonly LostStatus[];

describe('a lost answer to', function () {
  this.timeout('2m');
  const vendors = new Vendors();
  let lanes: Lanes;
  let cases = 0;
  before(async () => {
    firestore(); // connects to the emulator itself
    await vendors.start();
    lanes = await Lanes.open(LANES);
  });
  after(async () => {
    await lanes.close();
    await vendors.stop();
    process.stdout.write(`      (${cases} lost commits)\n`);
  });

  it('each tool that writes is tested below', () => {
    const writing = toolsets.flatMap(({ name, tools }) =>
      tools.filter(({ annotations }) => !annotations.readOnlyHint).map((tool) => fullName(name, tool.name)),
    );
    assert.deepEqual(new Set(scenarios.map(({ tool }) => tool)), new Set(writing));
  });

  for (const scenario of scenarios) {
    it(`${scenario.tool} ${scenario.when}`, async () => {
      const problems = await Promise.all([true, false].map((isKeyed) => disturbed(scenario, isKeyed)));
      if (problems.flat().length > 0) assert.fail(problems.flat().join('\n'));
    });
  }

  /** Compares what happens with what happens undisturbed. Gives what differs. */
  async function disturbed(scenario: Scenario, isKeyed: boolean): Promise<readonly string[]> {
    const undisturbed = await lanes.use((lane) => perform(scenario, isKeyed, lane));
    assert.deepEqual(undisturbed.problems, [], 'undisturbed');
    if (isKeyed) assert.ok(undisturbed.commits > 0, 'a call with a key stores its answer');
    const losses = lossesOf(undisturbed.commits);
    cases += losses.length;
    const found = losses.map((loss) =>
      lanes.use(async (lane) => {
        const { problems, account } = await perform(scenario, isKeyed, lane, loss);
        const all = [...problems, ...differences(undisturbed.account, account)];
        return all.length === 0 ? [] : [`${isKeyed ? 'keyed' : 'unkeyed'}, ${told(loss)}: ${all.join('; ')}`];
      }),
    );
    return (await Promise.all(found)).flat();
  }

  async function perform(scenario: Scenario, isKeyed: boolean, lane: Lane, loss?: Loss) {
    const scene = new Scene(vendors);
    const { args, principal = scene.leader, elsewhere, asCaller } = await scenario.prepare(scene);
    const app = scene.through(lane);
    if (asCaller) await connectingThrough(lane, () => connect(scene, app));
    const keyed = isKeyed ? { ...args, idempotency_key: randomUUID() } : args;
    const name = wireNameOf(scenario.tool);
    lane.proxy.begin(loss);
    const result = await call(scene, name, keyed, principal, app);
    const { applied, sent, lost } = lane.proxy.seen;
    const again = isKeyed ? await call(scene, name, keyed, principal) : result;
    const problems = [
      ...(lost === (loss === undefined ? 0 : 1) ? [] : [`${lost} commits were lost`]),
      ...refusals(result, again),
      ...(await recount(scene)),
    ];
    const account = accountOf(
      { answer: [result.structuredContent, await elsewhere?.()], written: applied },
      { place: scene.workspace, now: asCaller ? undefined : scene.now, chance: CHANCE },
    );
    return { problems, account, commits: sent };
  }

  /** The client that comes as the caller is made with its first call. */
  async function connect({ leader }: Scene, { services }: Scene['app']): Promise<void> {
    const caller = { principal: leader, credential: `credential of ${leader.uid}` };
    await services.data.read(caller, 'firestore', 'shared', { shallow: false, query: { limit: 1 } });
  }
});

function wireNameOf(tool: string): string {
  const [toolset = '', name = ''] = tool.split('.');
  return wireName(toolset, name, 'prefixed');
}

/** Each of the first commits, lost in each way. */
function lossesOf(commits: number): readonly Loss[] {
  const numbers = Array.from({ length: Math.min(commits, MOST_COMMITS) }, (_, index) => index + 1);
  return numbers.flatMap((commit) => [
    ...STATUSES.map((status): Loss => ({ commit, status, what: 'answer' })),
    { commit, status: 'UNAVAILABLE', what: 'request' },
  ]);
}

function told({ commit, what, status }: Loss): string {
  return `${what} of commit ${commit}, ${status}`;
}

/** A call succeeds, and repeated with its key it says the same. */
function refusals({ structuredContent, isError }: ToolResult, again: ToolResult): readonly string[] {
  if (isError) return [`refused: ${short(structuredContent)}`];
  const isSame = isDeepStrictEqual(again.structuredContent, structuredContent);
  return isSame ? [] : [`replayed as ${short(again.structuredContent)}`];
}

function differences(expected: Account, found: Account): readonly string[] {
  const missing = without(expected.written, found.written);
  const surplus = without(found.written, expected.written);
  return [
    ...(found.answer === expected.answer
      ? []
      : [`answered ${short(found.answer)}`, `not ${short(expected.answer)}`]),
    ...(missing.length === 0 ? [] : [`did not write ${missing.map(short).join(' ')}`]),
    ...(surplus.length === 0 ? [] : [`wrote besides ${surplus.map(short).join(' ')}`]),
  ];
}

function short(what: unknown): string {
  const text = typeof what === 'string' ? what : JSON.stringify(what);
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}

/** Each as often as it is there more. */
function without(all: readonly string[], some: readonly string[]): readonly string[] {
  const left = [...some];
  return all.filter((each) => {
    const at = left.indexOf(each);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}
