/**
 * In every toolset, callers without a role cannot find out what a private workspace contains, and callers with the
 * required role have access. test/unit/access/permissionCheck tests which role each tool and resource requires.
 */
import assert from 'node:assert/strict';
import { rolesOf, type Scope } from '../../../functions/src/identity/rules/principal.ts';
import { hasRole, type Role } from '../../../functions/src/identity/rules/role.ts';
import { fullName } from '../../../functions/src/mcp/tool.ts';
import { toolsets } from '../../../functions/src/toolsets/index.ts';
import { IS_NIGHTLY } from '../../support/nightly.ts';
import { RESOURCES, TOOLS } from './entries.ts';
import { type CallerName, type Outcome, TenancyFixture } from './fixture.ts';
import { type Ids, makeThings, namesOfNothing } from './things.ts';

/** Callers in the open workspace. Only the first two have a role in the deployment, and so in this workspace. */
const IN_OPEN: readonly CallerName[] = ['ann the leader', 'bea herself', 'cas the worker'];

/** Tools that create agents. They are called last, because other calls use the names of these agents. */
const LAST = ['coordination.register_agent', 'onboarding.registerAgent'];

const tools = toolsets
  .flatMap(({ name: toolset, tools, scope: ofToolset = 'workspace' as Scope }) =>
    tools.map(({ name, role, agentRole = role, scope = ofToolset, prepare }) => {
      const tool = fullName(toolset, name);
      return { name: tool, role, agentRole, scope, prepare, argumentsFor: TOOLS[tool] ?? (() => ({})) };
    }),
  )
  .sort((one, other) => LAST.indexOf(one.name) - LAST.indexOf(other.name));

type Entry = (typeof tools)[number];

/** The default run tests one tool for each combination of roles and scope, and all tools of the toolset access. */
const oneOfEachNeed = new Set(
  new Map(tools.map((tool) => [[tool.role, tool.agentRole, tool.scope].join(), tool])).values(),
);
const isTriedByRole = (tool: Entry) => IS_NIGHTLY || tool.name.startsWith('access.') || oneOfEachNeed.has(tool);

/** Tools that wait for a run. They get invalid arguments, so that calls fail right after the permission check. */
const WAITING = ['orchestration.execute_code', 'orchestration.execute_task'];

const resources = toolsets.flatMap(({ resources, templates = [] }) =>
  [...resources, ...templates].map((one) => {
    const name = 'uri' in one ? one.uri : one.uriTemplate;
    const variables = 'completions' in one ? [...one.completions.keys()] : [];
    const watchable = 'watchable' in one && one.watchable;
    const { role, scope = 'workspace' as Scope } = one;
    return { name, role, agentRole: role, scope, variables, watchable, uriFor: RESOURCES[name] ?? (() => name) };
  }),
);

/** Callers without access to Ann's own items and to her workspace. */
const STRANGERS: readonly CallerName[] = ['bea the leader', 'bea herself', 'nobody'];
const GATE = /^(NO_ROLE|(DEPLOYMENT_)?ROLE_TOO_WEAK)$/;
/** Watched resources that belong to one caller, who is the only one to watch them, except leaders of the owner. */
const OWN: Readonly<Record<string, readonly CallerName[]>> = {
  'firebase://subscriptions/{subscriptionId}': ['ann the worker'],
  'inbox://agents/{agentId}': ['ann the worker', 'ann the leader', 'ann herself'],
};
const ANNS: readonly CallerName[] = ['ann the viewer', 'ann the worker', 'ann the leader', 'ann herself'];
const shown = ({ result, error }: Outcome) => (error ? error.message : JSON.stringify(result));

/** Returns a response with placeholders in place of generated values, such as times, and of names in the request. */
function plain(text: string, names: Ids): string {
  const called = Object.values(names).sort((one, other) => other.length - one.length);
  return called
    .reduce((rest, name) => rest.replaceAll(name, '<name>'), text)
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replace(/"(version|secret)":"[^"]*"/g, '')
    .replace(/<name>-[0-9a-f]{8}\b/g, '<name>')
    .replace(/mk_[a-z2-7]{20}|run-[a-z]{20}|task-[0-9a-z]+-\d+|session-[a-z]{12}|[0-9a-f-]{36}/g, '<made>');
}

describe('access control of tools and resources', function () {
  this.timeout('3m');
  const fixture = new TenancyFixture();
  let ids: Ids;
  let absent: Ids;

  before(async () => {
    await fixture.begin();
    ids = await makeThings(fixture);
    absent = namesOfNothing(ids, fixture);
  });
  after(() => fixture.end());

  /** Returns whether the caller's role is sufficient for the tool or resource. */
  async function isOpenTo(
    caller: CallerName,
    { role, agentRole, scope }: { role: Role; agentRole: Role; scope: Scope },
    workspace = fixture.alpha,
  ): Promise<boolean> {
    const principal = await fixture.app.services.authenticator.authenticate(fixture.credential(caller));
    const has = rolesOf(principal, workspace)[scope];
    return has !== undefined && hasRole(has, principal.kind === 'agent' ? agentRole : role);
  }

  /** Asserts that access.explain agrees with the outcome of a call. @returns whether the caller had access */
  async function assertExplained(
    caller: CallerName,
    tool: string,
    { error }: Outcome,
    workspace = fixture.alpha,
  ): Promise<boolean> {
    const isLet = !GATE.test(error?.reason ?? '');
    assert.equal(isLet, await fixture.isExplained(caller, { tool }, workspace), `${caller}: ${error?.message}`);
    return isLet;
  }

  /**
   * Calls `look` for each stranger and workspace, with a second workspace whose response must be equal. The default
   * run has one stranger per workspace: Bea's leader agent in her own, and people with and without a deployment role.
   */
  async function everywhere(
    look: (caller: CallerName, workspace: string, elsewhere: string) => Promise<void>,
  ): Promise<void> {
    const places = [fixture.alpha, fixture.beta, fixture.open];
    for (const [index, caller] of STRANGERS.entries())
      for (const [at, workspace] of places.entries()) {
        if (!IS_NIGHTLY && (at + 2) % places.length !== index) continue;
        await look(caller, workspace, workspace === fixture.alpha ? fixture.nowhere : workspace);
      }
  }

  it('there are prepared arguments for every tool and a URI for every resource', () => {
    assert.deepEqual(Object.keys(TOOLS).sort(), tools.map(({ name }) => name).sort());
    assert.deepEqual(Object.keys(RESOURCES).sort(), resources.map(({ name }) => name).sort());
  });

  it('the prepared arguments of every tool are valid, except of tools that wait for a run', () => {
    for (const { name, argumentsFor, prepare } of tools) {
      if (WAITING.includes(name)) assert.throws(() => prepare(argumentsFor(ids)), name);
      else prepare(argumentsFor(ids));
    }
  });

  async function assertHidden({ name, argumentsFor, scope }: Entry): Promise<void> {
    await everywhere(async (caller, workspace, elsewhere) => {
      const output = `${name} by ${caller}`;
      const there = await fixture.call(caller, workspace, name, argumentsFor(ids));
      assert.ok(!shown(there).includes(fixture.secret), `${output} returns ${shown(there)}`);
      if (workspace === fixture.alpha) await assertExplained(caller, name, there);
      if (workspace === fixture.alpha && scope === 'workspace') assert.equal(there.error?.reason, 'NO_ROLE', output);
      const namesNothing = JSON.stringify(argumentsFor(ids)) === JSON.stringify(argumentsFor(absent));
      if (namesNothing && (workspace === elsewhere || scope !== 'workspace')) return;
      const nothing = await fixture.call(caller, elsewhere, name, argumentsFor(absent));
      assert.equal(plain(shown(there), ids), plain(shown(nothing), absent), output);
    });
  }

  /** Calls name no existing items, so that no call changes data that later calls read. */
  async function assertRole(entry: Entry, workspace: string, callers: readonly CallerName[]): Promise<void> {
    const { name, argumentsFor } = entry;
    const args = argumentsFor({ ...absent, workspace });
    for (const caller of callers) {
      const outcome = await fixture.call(caller, workspace, name, args);
      const isLet = await assertExplained(caller, name, outcome, workspace);
      // Tools of the toolset access check more than the caller's role.
      if (!name.startsWith('access.'))
        assert.equal(isLet, await isOpenTo(caller, entry, workspace), `${name} by ${caller}`);
    }
  }

  for (const { name: toolset } of toolsets) {
    const own = tools.filter(({ name }) => name.startsWith(`${toolset}.`));

    it(`tools of ${toolset} respond to callers without a role as if the workspace did not exist`, async () => {
      for (const tool of own) await assertHidden(tool);
    });

    const byRole = own.filter(isTriedByRole);
    if (byRole.length === 0) continue;
    it(`tools of ${toolset} accept only callers with the required role`, async () => {
      for (const tool of byRole) {
        await assertRole(tool, fixture.alpha, ANNS);
        // In the open workspace, each caller has the caller's role in the deployment.
        await assertRole(tool, fixture.open, IN_OPEN);
      }
    });
  }

  for (const { name, variables, watchable, uriFor, ...need } of resources) {
    const read = (caller: CallerName, workspace: string, of: Ids) =>
      fixture.mcp(caller, workspace, 'resources/read', { uri: uriFor(of) });

    it(`${name} responds to callers without a role as if the workspace did not exist`, () =>
      everywhere(async (caller, workspace, elsewhere) => {
        const there = await read(caller, workspace, ids);
        assert.ok(!there.includes(fixture.secret), there);
        assert.equal(plain(there, ids), plain(await read(caller, elsewhere, absent), absent), caller);
      }));

    it(`${name} is readable only by callers with at least the role ${need.role}`, async () => {
      for (const caller of ANNS) {
        const answer = await read(caller, fixture.alpha, ids);
        const isLet = !/requires the role|have no role/.test(answer);
        assert.equal(isLet, await isOpenTo(caller, need), `${caller}: ${answer}`);
      }
    });

    if (watchable)
      it(`${name} can be watched only by callers with a role, or by those with access to it`, async () => {
        for (const caller of ANNS) {
          const isLet = await fixture.mayListen(caller, fixture.alpha, uriFor(ids));
          const isTheirs = !(name in OWN) || OWN[name]?.includes(caller);
          assert.equal(isLet, isTheirs, caller);
        }
        await everywhere(async (caller, workspace) =>
          assert.equal(await fixture.mayListen(caller, workspace, uriFor(ids)), false, `${caller} listens`),
        );
      });

    for (const variable of variables)
      it(`completions of {${variable}} in ${name} show nothing of a workspace to outsiders`, () =>
        everywhere(async (caller, workspace) => {
          const ref = { type: 'ref/resource', uri: name };
          const argument = { name: variable, value: '' };
          const answer = await fixture.mcp(caller, workspace, 'completion/complete', { ref, argument });
          for (const secret of [fixture.secret, ids.coding, ids.session, ids.run, ids.branch, ids.project])
            assert.ok(!answer.includes(secret), `${caller} gets ${answer}`);
        }));
  }

  it('the event stream of a subscription can be opened only by its owner', async () => {
    assert.equal(await fixture.events('ann the worker', fixture.alpha, ids.subscription), '');
    await everywhere(async (caller, workspace, elsewhere) => {
      const there = await fixture.events(caller, workspace, ids.subscription);
      assert.notEqual(there, '', `${caller} can open the event stream`);
      const nothing = await fixture.events(caller, elsewhere, absent.subscription);
      assert.equal(plain(there, ids), plain(nothing, absent), caller);
    });
  });
});
