/** Who has which role where: the weaker of an agent's own and its owner's. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ownRole, type Principal, roleIn } from '../../../functions/src/identity/rules/principal.ts';
import { hasRole, ROLES, type Role, weaker } from '../../../functions/src/identity/rules/role.ts';
import { agentOf, personOf } from '../../support/principals.ts';

const ACCESS = { open: 'open', closed: 'private', other: 'private' } as const;

const person = (role?: Role, workspaces: Principal['owner']['workspaces'] = {}): Principal => ({
  ...personOf('ada', undefined),
  owner: { workspaces, access: ACCESS, ...(role && { role }) },
});

const places = ['default', 'open', 'closed', 'other', 'unopened'];

const rolesOf = (principal: Principal) => places.map((workspace) => roleIn(principal, workspace));

describe('a role in a workspace', () => {
  it('is none for whom the deployment does not know', () => {
    assert.deepEqual(rolesOf(person()), [undefined, undefined, undefined, undefined, undefined]);
    assert.equal(ownRole(person()), undefined);
  });

  it('is the deployment’s in every open one, and in none that is private', () => {
    for (const role of ['viewer', 'worker'] as const)
      assert.deepEqual(rolesOf(person(role)), [role, role, undefined, undefined, undefined]);
  });

  it('is also that of who leads or administers the deployment where nobody has opened one yet', () => {
    for (const role of ['leader', 'admin'] as const)
      assert.deepEqual(rolesOf(person(role)), [role, role, undefined, undefined, role]);
  });

  it('is a member’s in theirs alone, and the stronger of the two in an open one', () => {
    const member = { closed: 'worker', open: 'leader', default: 'viewer' } as const;
    assert.deepEqual(rolesOf(person(undefined, member)), [
      'viewer',
      'leader',
      'worker',
      undefined,
      undefined,
    ]);
    assert.deepEqual(rolesOf(person('worker', member)), ['worker', 'leader', 'worker', undefined, undefined]);
    assert.equal(ownRole(person('worker', member)), 'leader');
  });

  it('of an agent is never more than its own or its owner’s', () => {
    const role = fc.constantFrom(...ROLES);
    const member = fc.dictionary(fc.constantFrom(...places), fc.constantFrom('viewer', 'worker', 'leader'));
    fc.assert(
      fc.property(role, fc.option(role, { nil: undefined }), member, (own, owners, workspaces) => {
        const owner = person(owners, workspaces);
        const agent: Principal = { ...agentOf('one', 'ada', own), owner: owner.owner };
        for (const workspace of places) {
          const [of, its] = [roleIn(owner, workspace), roleIn(agent, workspace)];
          assert.equal(its, of && weaker(own, of));
          if (its !== undefined) assert.ok(hasRole(ownRole(agent) ?? 'viewer', its));
        }
      }),
    );
  });

  it('of a credential that is held to a workspace is there alone', () => {
    const held = { ...person('leader', { closed: 'worker' }), held_to: 'closed' };
    assert.deepEqual(rolesOf(held), [undefined, undefined, 'worker', undefined, undefined]);
    assert.equal(ownRole(held), 'worker');
    assert.equal(ownRole({ ...held, held_to: 'other' }), undefined);
    assert.equal(ownRole({ ...held, held_to: 'open' }), 'leader');
  });

  it('is nobody’s in a workspace whose name every object has', () => {
    for (const workspace of ['constructor', 'toString', 'hasOwnProperty', 'valueOf'])
      assert.equal(roleIn(person('worker', {}), workspace), undefined);
  });
});
