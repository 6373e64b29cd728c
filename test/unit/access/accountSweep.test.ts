import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import type { Database, Reference } from 'firebase-admin/database';
import { accountChange } from '../../../functions/src/access/rules/accountSweep.ts';
import type { AccessChange } from '../../../functions/src/access/rules/ports.ts';
import { followChanges, mirrorOf } from '../../../functions/src/access/store/accessMirror.ts';
import type { AccountState, Person } from '../../../functions/src/identity/rules/people.ts';
import { PersonRoleReader } from '../../../functions/src/identity/store/accounts.ts';
import { portsOf } from '../../support/ports.ts';

const MADE = 1000;
const NOW = 5000;
const good = { isDisabled: false, createdAt: MADE, validSince: MADE };

const changed = (stored: Pick<Person, 'account' | 'valid_since'>, found: Parameters<typeof accountChange>[2]) => {
  const change = accountChange('ada', stored, found, NOW);
  if (change === undefined) return undefined;
  const { uid, ...rest } = change;
  assert.equal(uid, 'ada');
  return rest;
};

describe("stored state of a person's account", () => {
  it('remains unset if the account never existed', () => assert.equal(changed({}, undefined), undefined));

  it('is set to "good" once, and other instances are not notified', () => {
    assert.deepEqual(changed({}, good), { account: 'good', isNews: false });
    assert.equal(changed({ account: 'good' }, good), undefined);
    assert.equal(changed({ account: 'good' }, { ...good, validSince: 0 }), undefined);
  });

  it('invalidates earlier sign-ins, once, when the account is disabled or deleted', () => {
    const disabled = { ...good, isDisabled: true };
    for (const before of [{}, { account: 'good' }, { account: 'good', valid_since: 2000 }] as const)
      assert.deepEqual(changed(before, disabled), { account: 'disabled', validSince: NOW, isNews: true });
    assert.deepEqual(changed({ account: 'good' }, undefined), { account: 'deleted', validSince: NOW, isNews: true });
    assert.equal(changed({ account: 'disabled', valid_since: NOW - 60 }, disabled), undefined);
    assert.equal(changed({ account: 'deleted', valid_since: NOW - 60 }, undefined), undefined);
    assert.deepEqual(changed({ account: 'disabled', valid_since: NOW - 60 }, undefined), {
      account: 'deleted',
      isNews: false,
    });
  });

  it('invalidates sign-ins before a token revocation, and keeps the latest time of a revocation', () => {
    const revoked = { ...good, validSince: 3000 };
    assert.deepEqual(changed({ account: 'good' }, revoked), { validSince: 3000, isNews: true });
    assert.equal(changed({ account: 'good', valid_since: 3000 }, revoked), undefined);
    assert.equal(changed({ account: 'good', valid_since: 4000 }, revoked), undefined);
  });

  it('is "good" again after the account is enabled, but earlier sign-ins stay invalid', () => {
    const before = { account: 'disabled', valid_since: 2000 } as const;
    assert.deepEqual(changed(before, good), { account: 'good', isNews: true });
  });
});

describe('roles of a person whose account changes', () => {
  const rolesOf = (account: AccountState | undefined, claimed?: () => Promise<undefined>) =>
    new PersonRoleReader(
      portsOf<ConstructorParameters<typeof PersonRoleReader>[0]>({
        people: {
          findWithDeployment: async () => ({
            person: { role: 'worker', workspaces: {}, valid_since: 7, ...(account && { account }) },
            access: {},
            asking: {},
          }),
        },
        idTokens: { roleOf: async () => undefined },
      }),
    ).of('ada', claimed);

  it('are absent if the account is disabled or deleted, without a call to Firebase Auth', async () => {
    for (const account of ['disabled', 'deleted'] as const) {
      const { role, isOut } = await rolesOf(account);
      assert.deepEqual([role, isOut], [undefined, true]);
    }
    for (const account of ['good', undefined] as const) {
      const { role, isOut } = await rolesOf(account);
      assert.deepEqual([role, isOut], ['worker', undefined]);
    }
  });

  it('do not depend on the stored account state if the ID token was verified', async () => {
    const { role, validSince } = await rolesOf('disabled', async () => undefined);
    assert.deepEqual([role, validSince], ['worker', 7]);
  });

  it('are marked as "out" in the access mirror if the account is disabled', () => {
    const person = { role: 'none', workspaces: {}, valid_since: 7 } as const;
    const mirrored = { role: { none: true }, workspaces: {}, valid_since: 7 };
    assert.deepEqual(mirrorOf({ ...person, account: 'good' }), mirrored);
    assert.deepEqual(mirrorOf({ ...person, account: 'disabled' }), { ...mirrored, out: true });
  });
});

describe('access mirror in the Realtime Database', () => {
  it('receives the leader of a new workspace before its other entries are written', async () => {
    const written: string[] = [];
    const database = portsOf<Database>({
      ref: (path?: unknown) => portsOf<Reference>({ set: async () => void written.push(String(path)) }),
    });
    const people = {
      find: async () => {
        await setImmediate(); // The list of workspaces is available before this wait ends.
        return { workspaces: { alpha: 'leader' } } as const;
      },
      workspaces: async () => ({ alpha: 'private' }) as const,
    };
    const member = { uid: 'ada', workspace: 'alpha', role: 'leader', added_by: 'ada', added_at: new Date(0) } as const;
    const log = { info() {}, warn() {}, error() {} };
    const changes: readonly AccessChange[] = [
      { kind: 'nameWorkspace', workspace: 'alpha', access: 'private' },
      { kind: 'setMember', member },
    ];
    await followChanges({ database: async () => database, people, log }, changes);
    assert.deepEqual(written, ['access/people/ada', 'access/workspaces']);
  });
});
