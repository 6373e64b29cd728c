import assert from 'node:assert/strict';
import { grantedRole, requireReplaceable } from '../../../functions/src/agents/rules/registration.ts';
import { grantedLimits } from '../../../functions/src/identity/rules/lineage.ts';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import { ROLES, type Role } from '../../../functions/src/identity/rules/role.ts';
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import { sampleAgent, sampleCredential } from '../../support/builders.ts';
import { agentOf, personOf } from '../../support/principals.ts';

const AGENT = 'terminal-2';
const OWNER = 'person';
const itself = (role: Role): Principal => ({ ...fellow(role), uid: `agent:${AGENT}`, agent_id: AGENT });
const fellow = (role: Role): Principal => agentOf('fellow', OWNER, role);
const owner = (role: Role): Principal => personOf(OWNER, role);
const stranger =
  (kind: 'agent' | 'person') =>
  (role: Role): Principal => ({
    ...(kind === 'agent' ? fellow(role) : owner(role)),
    uid: 'stranger',
    owner_uid: 'stranger',
  });

/** Roles that a registration may request; undefined keeps the current role. */
const WANTED = [undefined, ...ROLES] as const;

/**
 * Cases by caller, then by the agent's current role (viewer, worker, leader, admin). A granted request has a letter:
 * "k" if it keeps the role, else "v", "w", "l" or "a" for the requested role. A rejected one has ".".
 */
const TABLE: readonly [string, (role: Role) => Principal, Role, readonly string[]][] = [
  ['a worker of the same owner', fellow, 'worker', ['.....', '.....', '.....', '.....']],
  ['a leader of the same owner', fellow, 'leader', ['kv...', 'kvw..', 'kvwl.', '.....']],
  ['an admin of the same owner', fellow, 'admin', ['kv...', 'kvw..', 'kvwl.', 'kvwla']],
  ['its owner, a worker', owner, 'worker', ['kvw..', 'kvw..', '.vw..', '.vw..']],
  ['its owner, a leader', owner, 'leader', ['kvwl.', 'kvwl.', 'kvwl.', '.vwl.']],
  ['its owner, an admin', owner, 'admin', ['kvwla', 'kvwla', 'kvwla', 'kvwla']],
  ['another owner’s leader', stranger('agent'), 'leader', ['.....', '.....', '.....', '.....']],
  ['another owner’s admin', stranger('agent'), 'admin', ['.....', '.....', '.....', '.....']],
  ['another person, an admin', stranger('person'), 'admin', ['.....', '.....', '.....', '.....']],
];

function granted(caller: Principal, role: Role, wanted: Role | undefined): boolean {
  const agent = sampleAgent({ id: AGENT, owner_uid: OWNER, role });
  try {
    requireReplaceable(caller, agent);
    assert.equal(grantedRole(caller, wanted, agent), wanted ?? role);
    return true;
  } catch (error) {
    assert.ok(error instanceof MusterError && error.code === 'FORBIDDEN', String(error));
    assert.ok(error.details.field !== undefined && error.details.suggestion !== undefined);
    return false;
  }
}

const row = (caller: Principal, role: Role): string =>
  WANTED.map((wanted) => (granted(caller, role, wanted) ? (wanted ?? 'keep').charAt(0) : '.')).join('');

const credential = (toolsets?: readonly string[]) => sampleCredential(toolsets && { toolsets });

describe('registration of an agent', () => {
  for (const [who, caller, role, rows] of TABLE)
    it(`by ${who} results in the roles of the table`, () => {
      const found = ROLES.map((of) => row(caller(role), of));
      assert.deepEqual(found, rows);
    });

  it("that an agent requests for its own id never raises the agent's role", () => {
    const found = ROLES.map((role) => row(itself(role), role));
    assert.deepEqual(found, ['kv...', 'kvw..', 'kvwl.', 'kvwla']);
  });

  it("of a new agent grants at most the caller's role, and by default the role worker", () => {
    assert.equal(grantedRole(fellow('leader'), undefined, undefined), 'worker');
    assert.equal(grantedRole(fellow('leader'), 'leader', undefined), 'leader');
    assert.throws(() => grantedRole(fellow('leader'), 'admin', undefined), MusterError);
  });

  const toolsets = (...of: Parameters<typeof grantedLimits>) => grantedLimits(...of).toolsets;

  it("keeps the limits of the agent's credential, unless a person changes them", () => {
    const narrow = [credential(['todo', 'system'])];
    for (const caller of [itself('worker'), fellow('leader'), fellow('admin'), owner('worker')])
      assert.deepEqual(toolsets(caller, narrow), ['todo', 'system'], caller.uid);
    assert.deepEqual(toolsets(fellow('admin'), narrow, { toolsets: null }), ['todo', 'system']);
    for (const wanted of [{ toolsets: null }, { toolsets: ['coding'] }]) {
      const given = wanted.toolsets ?? undefined;
      assert.deepEqual(toolsets(owner('worker'), narrow, wanted), given);
    }
    assert.deepEqual(toolsets(itself('worker'), narrow, { toolsets: null }), ['todo', 'system']);
    assert.deepEqual(toolsets(itself('worker'), narrow, { toolsets: ['coding', 'todo'] }), ['todo']);
    assert.equal(toolsets(itself('worker'), [credential()]), undefined);
  });

  it("keeps the read-only mode and the workspace of the agent's credential", () => {
    const held = [{ ...credential(), held_to: 'alpha', readonly: true as const }];
    assert.deepEqual(grantedLimits(itself('worker'), held), { held_to: 'alpha', readonly: true });
    assert.deepEqual(grantedLimits(owner('worker'), held), { held_to: 'alpha', readonly: true });
    assert.deepEqual(grantedLimits(owner('worker'), held, { held_to: null, readonly: false }), {});
    const elsewhere = { held_to: 'beta' };
    assert.deepEqual(grantedLimits(owner('worker'), held, elsewhere), { held_to: 'beta', readonly: true });
    assert.throws(() => grantedLimits(itself('worker'), held, elsewhere), MusterError);
    assert.throws(() => grantedLimits({ ...owner('worker'), held_to: 'alpha' }, [], elsewhere), MusterError);
  });

  it('grants an agent no toolset that the caller lacks', () => {
    const caller: Principal = { ...owner('admin'), toolsets: ['onboarding', 'todo'] };
    assert.deepEqual(toolsets(caller, []), ['onboarding', 'todo']);
    assert.deepEqual(toolsets(caller, [credential(['coding'])], { toolsets: null }), ['onboarding', 'todo']);
    const leader: Principal = { ...fellow('leader'), toolsets: ['onboarding', 'todo'] };
    assert.deepEqual(toolsets(leader, [credential(['todo', 'coding'])]), ['todo']);
    assert.deepEqual(toolsets(leader, [credential(['coding'])]), []);
  });
});
