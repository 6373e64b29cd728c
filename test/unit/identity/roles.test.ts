import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ownRole, type Principal, roleIn } from '../../../functions/src/identity/rules/principal.ts';
import { hasRole, ROLES, type Role, weakerOf } from '../../../functions/src/identity/rules/role.ts';
import { agentOf, personOf } from '../../support/principals.ts';
import { forAll } from '../../support/properties.ts';

const ACCESS = { open: 'open', closed: 'private', other: 'private' } as const;

const person = (role?: Role, workspaces: Principal['owner']['workspaces'] = {}): Principal => ({
  ...personOf('ada', undefined),
  owner: { workspaces, access: ACCESS, ...(role && { role }) },
});

const places = ['default', 'open', 'closed', 'other', 'unopened'];
const rolesOf = (principal: Principal) => places.map((workspace) => roleIn(principal, workspace));

describe('role of a caller in a workspace', () => {
  it('is undefined if the person has no roles', () => {
    assert.deepEqual(rolesOf(person()), [undefined, undefined, undefined, undefined, undefined]);
    assert.equal(ownRole(person()), undefined);
  });

  it('is the deployment role in each open workspace, and undefined in private workspaces', () => {
    for (const role of ['viewer', 'worker'] as const)
      assert.deepEqual(rolesOf(person(role)), [role, role, undefined, undefined, undefined]);
  });

  it('is the deployment role of a leader or admin if the workspace does not exist yet', () => {
    for (const role of ['leader', 'admin'] as const)
      assert.deepEqual(rolesOf(person(role)), [role, role, undefined, undefined, role]);
  });

  it('is the role of the membership in a private workspace, and the stronger role in an open one', () => {
    const member = { closed: 'worker', open: 'leader', default: 'viewer' } as const;
    assert.deepEqual(rolesOf(person(undefined, member)), ['viewer', 'leader', 'worker', undefined, undefined]);
    assert.deepEqual(rolesOf(person('worker', member)), ['worker', 'leader', 'worker', undefined, undefined]);
    assert.equal(ownRole(person('worker', member)), 'leader');
  });

  it("is at most the agent's own role and at most the role of its owner", () => {
    const role = fc.constantFrom(...ROLES);
    const member = fc.dictionary(fc.constantFrom(...places), fc.constantFrom('viewer', 'worker', 'leader'));
    forAll(role, fc.option(role, { nil: undefined }), member, (own, owners, workspaces) => {
      const owner = person(owners, workspaces);
      const agent: Principal = { ...agentOf('one', 'ada', own), owner: owner.owner };
      for (const workspace of places) {
        const [of, its] = [roleIn(owner, workspace), roleIn(agent, workspace)];
        assert.equal(its, of && weakerOf(own, of));
        if (its !== undefined) assert.ok(hasRole(ownRole(agent) ?? 'viewer', its));
      }
    });
  });

  it('exists only in one workspace if the credential is restricted to that workspace', () => {
    const held = { ...person('leader', { closed: 'worker' }), held_to: 'closed' };
    assert.deepEqual(rolesOf(held), [undefined, undefined, 'worker', undefined, undefined]);
    assert.equal(ownRole(held), 'worker');
    assert.equal(ownRole({ ...held, held_to: 'other' }), undefined);
    assert.equal(ownRole({ ...held, held_to: 'open' }), 'leader');
  });

  it('is undefined in a workspace named like a property of every object, such as constructor', () => {
    for (const workspace of ['constructor', 'toString', 'hasOwnProperty', 'valueOf'])
      assert.equal(roleIn(person('worker', {}), workspace), undefined);
  });
});
