/** Only people may loosen limits. No call of a tool by an agent may loosen a limit. */
import assert from 'node:assert/strict';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { fullName } from '../../../functions/src/mcp/tool.ts';
import { toolsets } from '../../../functions/src/toolsets/index.ts';
import { CALLABLE_BY_TOOLSET, TOOLS } from './entries.ts';
import { type CallerName, TenancyFixture } from './fixture.ts';
import { type Ids, makeThings } from './things.ts';
import { loosenedBetween, wallsOf } from './walls.ts';

const tools = toolsets.flatMap(({ name: toolset, tools }) =>
  tools
    .filter(({ annotations }) => !annotations.readOnlyHint)
    .map(({ name, loosens = [] }) => ({ name: fullName(toolset, name), loosens })),
);

/** Agents, those with the most rights first. A call of one agent can make calls of later agents fail. */
const AGENTS: readonly CallerName[] = ['ann the leader', 'ann the worker', 'ann the viewer', 'cas the worker'];

/** Calls of an agent with the role leader that try to loosen a limit. Each would loosen exactly one limit. */
const ATTEMPTS: readonly (readonly [
  what: string,
  tool: string,
  args: (fixture: TenancyFixture, ids: Ids) => JsonObject,
])[] = [
  [
    'approvals',
    'access.update_workspace',
    ({ alpha }) => ({ workspace: alpha, approvals: [{ tool: 'github.createPR', above_usd: 1 }] }),
  ],
  ['approvals', 'access.update_workspace', ({ alpha }) => ({ workspace: alpha, approvals: [] })],
  [
    'repositories',
    'access.update_workspace',
    ({ alpha }) => ({ workspace: alpha, repositories: ['sartor-ai/muster'] }),
  ],
  ['routing', 'access.update_workspace', ({ alpha }) => ({ workspace: alpha, routing: { forbid: [] } })],
  ['member', 'access.invite', ({ alpha }) => ({ workspace: alpha, email: 'dee@example.com', role: 'viewer' })],
  ['member', 'access.set_member', ({ alpha, cas }) => ({ workspace: alpha, uid: cas, role: 'leader' })],
  ['budget', 'system.setBudget', ({ alpha }) => ({ kind: 'workspace', id: alpha, clear: ['money'] })],
  ['budget', 'system.setBudget', (_, { todo }) => ({ kind: 'todo', id: todo, tokens: 2000 })],
];

describe('loosening of limits', function () {
  this.timeout('3m');
  const fixture = new TenancyFixture();
  let ids: Ids;

  const as = (caller: CallerName, tool: string, args: JsonObject) => fixture.result(caller, fixture.alpha, tool, args);

  before(async () => {
    await fixture.begin();
    ids = await makeThings(fixture);
    await as('ann herself', 'access.update_workspace', {
      workspace: fixture.alpha,
      routing: { forbid: ['gemini'] },
      approvals: [{ tool: 'github.createPR' }],
    });
    await as('ann herself', 'system.setBudget', { kind: 'workspace', id: fixture.alpha, money: 5, tokens: 100_000 });
    await as('ann herself', 'system.setBudget', { kind: 'todo', id: ids.todo, money: 1, tokens: 1000 });
  });
  after(() => fixture.end());

  for (const [what, tool, argumentsFor] of ATTEMPTS) {
    const title = () => JSON.stringify(argumentsFor(fixture, ids));

    it(`${what}: a call of ${tool} that loosens this limit needs approval only for agents`, async () => {
      const before = await wallsOf(fixture, ids);
      const args = argumentsFor(fixture, ids);
      const { error } = await fixture.call('ann the leader', fixture.alpha, tool, args);
      assert.equal(error?.reason, 'WAITS_FOR_APPROVAL', `${title()}: ${error?.message}`);
      assert.deepEqual(loosenedBetween(before, await wallsOf(fixture, ids)), [], title());
      await as('ann herself', tool, args);
      assert.equal(loosenedBetween(before, await wallsOf(fixture, ids)).length, 1, `${title()} must loosen one limit`);
    });
  }

  it('every kind of limit that a tool can loosen is tested, here or in test/unit/access', () => {
    const stated = new Set(tools.flatMap(({ loosens }) => loosens));
    const tried = new Set(ATTEMPTS.map(([what]) => what));
    // test/unit/access/loosening.test.ts tests "access" (of a workspace), "agent" (an agent's role) and "proof".
    assert.deepEqual([...stated].filter((what) => !tried.has(what)).sort(), ['access', 'agent', 'proof']);
  });

  for (const [toolset, names] of CALLABLE_BY_TOOLSET) {
    const writing = names.filter((tool) => tools.some(({ name }) => name === tool));
    if (writing.length === 0) continue;
    it(`no agent can loosen a limit through any tool of ${toolset}`, async () => {
      const before = await wallsOf(fixture, ids);
      for (const name of writing)
        for (const caller of AGENTS) await fixture.call(caller, fixture.alpha, name, TOOLS[name]?.(ids) ?? {});
      assert.deepEqual(loosenedBetween(before, await wallsOf(fixture, ids)), []);
    });
  }
});
