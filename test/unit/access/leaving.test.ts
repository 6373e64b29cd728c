import assert from 'node:assert/strict';
import { CACHE_TTL_MS } from '../../../functions/src/access/rules/credentialCache.ts';
import { closedSince, hasLostAccess, lostAccessOf, OwnerRoles } from '../../../functions/src/access/rules/leaving.ts';
import type { Person } from '../../../functions/src/identity/rules/people.ts';
import type { PersonRoles } from '../../../functions/src/identity/rules/principal.ts';
import { UnreadableDocumentError } from '../../../functions/src/kernel/ports.ts';

const ACCESS = { alpha: 'private', beta: 'open' } as const;
const roles = (more: Partial<PersonRoles>): PersonRoles => ({ workspaces: {}, access: ACCESS, ...more });
const person = (more: Partial<Person>): Person => ({ workspaces: {}, ...more });

describe('loss of access to a workspace', () => {
  it('ends only the right to work for a viewer, and all rights for a person without a role', () => {
    const viewer = lostAccessOf(roles({ workspaces: { alpha: 'viewer' }, role: 'worker' }));
    assert.deepEqual([viewer.isOut('alpha'), viewer.isRemoved('alpha')], [true, false]);
    assert.deepEqual([viewer.isOut('beta'), viewer.isRemoved('beta')], [false, false]);
    const withoutRole = lostAccessOf(roles({}));
    assert.deepEqual([withoutRole.isOut('beta'), withoutRole.isRemoved('beta')], [true, true]);
    const admin = lostAccessOf(roles({ role: 'admin' }));
    assert.deepEqual([admin.isOut('alpha'), admin.isRemoved('alpha')], [true, true], 'no deployment role');
  });

  for (const [what, before, after, lost] of [
    ['a new person', undefined, person({ workspaces: { alpha: 'worker' } }), false],
    [
      'a raised membership',
      person({ workspaces: { alpha: 'viewer' } }),
      person({ workspaces: { alpha: 'leader' } }),
      false,
    ],
    [
      'another membership',
      person({ workspaces: { alpha: 'viewer' } }),
      person({ workspaces: { alpha: 'viewer', beta: 'worker' } }),
      false,
    ],
    ['a raised role', person({ role: 'worker' }), person({ role: 'leader' }), false],
    ['a role after none', person({ role: 'none' }), person({ role: 'viewer' }), false],
    [
      'a lowered membership',
      person({ workspaces: { alpha: 'worker' } }),
      person({ workspaces: { alpha: 'viewer' } }),
      true,
    ],
    ['a removed membership', person({ workspaces: { alpha: 'worker' } }), person({}), true],
    ['a lowered role', person({ role: 'worker' }), person({ role: 'viewer' }), true],
    ['a removed role', person({ role: 'worker' }), person({ role: 'none' }), true],
    ['a role that replaces a claim', person({}), person({ role: 'viewer' }), true],
    ['a role of a person not stored before', undefined, person({ role: 'none' }), true],
    ['an erased person', person({ workspaces: { alpha: 'worker' } }), undefined, true],
  ] as const)
    it(`${lost ? 'is possible after' : 'does not follow from'} ${what}`, () =>
      assert.equal(hasLostAccess(before, after), lost));

  it('is possible when an open workspace becomes private', () => {
    const [open, closed] = [
      { alpha: 'open', beta: 'open' },
      { alpha: 'private', beta: 'open' },
    ] as const;
    assert.deepEqual(closedSince(open, closed), ['alpha']);
    assert.deepEqual(closedSince(closed, open), []);
    assert.deepEqual(closedSince({}, closed), [], 'a new workspace had no members');
  });
});

describe("cached status of an agent's owner", () => {
  let now = 0;
  let stored: PersonRoles | undefined;
  let read = 0;
  const owners = () => {
    read = 0;
    return new OwnerRoles({
      clock: { now: () => new Date(now) },
      roles: {
        of: async () => {
          read++;
          if (stored === undefined) throw new UnreadableDocumentError('people/ben');
          return stored;
        },
      },
    });
  };

  beforeEach(() => {
    now = 1_000_000;
    stored = roles({ workspaces: { alpha: 'worker' } });
  });

  it('is read once per 5 seconds while the owner may work in the workspace', async () => {
    const known = owners();
    for (let times = 0; times < 3; times++) assert.equal(await known.stateOf('ben', 'alpha'), 'works');
    assert.equal(read, 1);
    now += CACHE_TTL_MS;
    assert.equal(await known.stateOf('ben', 'alpha'), 'works');
    assert.equal(read, 2);
  });

  it('is "out" at most 5 seconds after the owner loses the role worker', async () => {
    const known = owners();
    assert.equal(await known.stateOf('ben', 'alpha'), 'works');
    stored = roles({ workspaces: { alpha: 'viewer' } });
    now += CACHE_TTL_MS;
    assert.equal(await known.stateOf('ben', 'alpha'), 'out');
  });

  it('is read again each time before it is reported as "out"', async () => {
    const known = owners();
    stored = roles({});
    assert.equal(await known.stateOf('ben', 'alpha'), 'out');
    stored = roles({ workspaces: { alpha: 'worker' } });
    assert.equal(await known.stateOf('ben', 'alpha'), 'works');
  });

  it('is "unknown" if the stored document of the owner is unreadable', async () => {
    stored = undefined;
    assert.equal(await owners().stateOf('ben', 'alpha'), 'unknown');
  });
});
