import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ownRole, type Principal, roleIn } from '../../../functions/src/identity/rules/principal.ts';
import { hasRole, ROLES, type Role, weakerOf } from '../../../functions/src/identity/rules/role.ts';
import { agentOf, personOf } from '../../support/principals.ts';

const ACCESS = { open: 'open', closed: 'private', other: 'private' } as const;

const person = (role?: Role, workspaces: Principal['owner']['workspaces'] = {}): Principal => ({
  ...personOf('ada', undefined),
  owner: { workspaces, access: ACCESS, ...(role && { role }) },
});

const places = ['default', 'open', 'closed', 'other', 'unopened'];

const rolesOf = (principal: Principal) => places.map((workspace) => roleIn(principal, workspace));

describe('role in a workspace', () => {
  it('does not exist for a person without roles', () => {
    assert.deepEqual(rolesOf(person()), [undefined, undefined, undefined, undefined, undefined]);
    assert.equal(ownRole(person()), undefined);
  });

  it('is the deployment role in every open workspace, and absent in private ones', () => {
    for (const role of ['viewer', 'worker'] as const)
      assert.deepEqual(rolesOf(person(role)), [role, role, undefined, undefined, undefined]);
  });

  it('is also the deployment role of leaders and admins if the workspace does not exist yet', () => {
    for (const role of ['leader', 'admin'] as const)
      assert.deepEqual(rolesOf(person(role)), [role, role, undefined, undefined, role]);
  });

  it('is the membership in private workspaces, and the stronger role in open ones', () => {
    const member = { closed: 'worker', open: 'leader', default: 'viewer' } as const;
    assert.deepEqual(rolesOf(person(undefined, member)), ['viewer', 'leader', 'worker', undefined, undefined]);
    assert.deepEqual(rolesOf(person('worker', member)), ['worker', 'leader', 'worker', undefined, undefined]);
    assert.equal(ownRole(person('worker', member)), 'leader');
  });

  it("of an agent is at most its own and its owner's role", () => {
    const role = fc.constantFrom(...ROLES);
    const member = fc.dictionary(fc.constantFrom(...places), fc.constantFrom('viewer', 'worker', 'leader'));
    fc.assert(
      fc.property(role, fc.option(role, { nil: undefined }), member, (own, owners, workspaces) => {
        const owner = person(owners, workspaces);
        const agent: Principal = { ...agentOf('one', 'ada', own), owner: owner.owner };
        for (const workspace of places) {
          const [of, its] = [roleIn(owner, workspace), roleIn(agent, workspace)];
          assert.equal(its, of && weakerOf(own, of));
          if (its !== undefined) assert.ok(hasRole(ownRole(agent) ?? 'viewer', its));
        }
      }),
    );
  });

  it('of a credential restricted to a workspace exists only there', () => {
    const held = { ...person('leader', { closed: 'worker' }), held_to: 'closed' };
    assert.deepEqual(rolesOf(held), [undefined, undefined, 'worker', undefined, undefined]);
    assert.equal(ownRole(held), 'worker');
    assert.equal(ownRole({ ...held, held_to: 'other' }), undefined);
    assert.equal(ownRole({ ...held, held_to: 'open' }), 'leader');
  });

  it('does not exist in a workspace named like a property of every object', () => {
    for (const workspace of ['constructor', 'toString', 'hasOwnProperty', 'valueOf'])
      assert.equal(roleIn(person('worker', {}), workspace), undefined);
  });
});
