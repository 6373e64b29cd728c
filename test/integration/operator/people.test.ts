/** `npm run people` sets roles of the deployment, manages members of workspaces, and revokes access. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { getAuth } from 'firebase-admin/auth';
import { z } from 'zod';
import { compose } from '../../../functions/src/composition/compose.ts';
import { personsRoleIn } from '../../../functions/src/identity/rules/principal.ts';
import { firebaseApp } from '../../../functions/src/kernel/realtime/database.ts';
import { externalServicesOf } from '../../support/externalServices.ts';
import { authenticate, bearerIn, dataOf, printed } from './commands.ts';

const { kernel, access } = compose(externalServicesOf());

/** Reads the roles with a new instance, whose cache is empty. */
const rolesOf = (uid: string) => compose(externalServicesOf()).access.ports.roles.of(uid);

describe('npm run people', () => {
  const some = randomUUID().slice(0, 8);
  const mail = `cyd-${some}@example.com`;
  const workspace = `ws-${some}`;
  let uid = '';

  before(() => kernel.store.commit([{ kind: 'nameWorkspace', workspace, access: 'private' }]));

  it('creates an account without a role, and shows its password link once', async () => {
    const made = z.object({ uid: z.string(), link: z.url() }).parse(await dataOf('people', 'create', '--mail', mail));
    uid = made.uid;
    const roles = await rolesOf(uid);
    assert.deepEqual([roles.role, personsRoleIn(roles, 'default')], [undefined, undefined]);
    await assert.rejects(printed('people', 'create', '--mail', mail), /is not verified\. The account/);
  });

  it('identifies a person by email only if the account has verified it', async () => {
    for (const args of [
      ['set-role', mail, 'admin'],
      ['add', mail, '--workspace', workspace],
      ['revoke', mail],
      ['erase', '--person', mail, '--dry-run'],
    ])
      await assert.rejects(printed('people', ...args), /is not verified.*registered it at .* with no provider/s);
    await assert.rejects(printed('agents', 'create', '--name', `of-${some}`, '--owner', mail), /is not verified/);
    assert.equal((await access.ports.people.find(uid))?.role, undefined);
    await printed('people', 'set-role', mail.toUpperCase(), 'viewer', '--unverified');
    assert.equal((await access.ports.people.find(uid))?.role, 'viewer');
    await printed('people', 'set-role', uid, 'none');
    assert.equal(await access.ports.idTokens.uidOf(mail), undefined, 'tools require verification');
    await getAuth(firebaseApp()).updateUser(uid, { emailVerified: true });
    assert.equal(await access.ports.idTokens.uidOf(mail), uid);
    await assert.rejects(printed('people', 'create', '--mail', mail), /already in use/);
  });

  it('sets and removes a role, both in the document and in the claim', async () => {
    assert.match(
      await printed('people', 'set-role', mail, 'leader'),
      /gets the role leader within 5 seconds; the previous role was none/,
    );
    assert.equal((await access.ports.people.find(uid))?.role, 'leader');
    assert.deepEqual((await getAuth(firebaseApp()).getUser(uid)).customClaims, { role: 'leader' });
    await printed('people', 'set-role', uid, 'worker');
    assert.equal(personsRoleIn(await rolesOf(uid), 'default'), 'worker');
    await assert.rejects(printed('people', 'set-role', `nobody-${some}`, 'admin'), /Unknown person/);
  });

  it('adds a member to a private workspace, and removes the member again', async () => {
    assert.equal(personsRoleIn(await rolesOf(uid), workspace), undefined);
    await printed('people', 'add', mail, '--workspace', workspace, '--role', 'leader');
    assert.equal(personsRoleIn(await rolesOf(uid), workspace), 'leader');
    assert.equal((await access.ports.people.member(workspace, uid))?.value.added_by, 'operator');
    assert.match(
      await printed('people', 'list', '--workspace', workspace),
      new RegExp(`${mail}.*leader in ${workspace}`),
    );

    assert.match(await printed('people', 'remove', uid, '--workspace', workspace), /has no leader/);
    assert.equal(personsRoleIn(await rolesOf(uid), workspace), undefined);
    await assert.rejects(printed('people', 'remove', uid, '--workspace', workspace), /is not a member/);
    await assert.rejects(printed('people', 'add', uid, '--workspace', `no-${some}`), /Workspace .* not found/);
  });

  it('revokes and lists all access of a person', async () => {
    await printed('people', 'add', uid, '--workspace', workspace);
    const bearer = bearerIn(await printed('agents', 'create', '--name', `cyds-${some}`, '--owner', uid));
    const { agent_id: agentId } = await authenticate(bearer);
    assert.deepEqual(z.object({ agents: z.array(z.string()) }).parse(await dataOf('people', 'show', mail)).agents, [
      agentId,
    ]);
    const { tokensValidAfterTime: before } = await getAuth(firebaseApp()).getUser(uid);

    const output = await printed('people', 'revoke', mail);
    assert.match(output, new RegExp(`Removed memberships: ${workspace}.`));
    assert.match(output, new RegExp(`revoked credentials: ${agentId}\\.`));
    assert.match(output, /is not disabled/);
    assert.match(output, /Cancelled open work: 0 coding tasks, 0 runs, 0 questions\./);
    const roles = await rolesOf(uid);
    assert.deepEqual([roles.role, roles.workspaces], [undefined, {}]);
    await assert.rejects(authenticate(bearer), { code: 'UNAUTHORIZED' });
    const after = await getAuth(firebaseApp()).getUser(uid);
    assert.deepEqual(after.customClaims ?? {}, {});
    assert.ok(Date.parse(after.tokensValidAfterTime ?? '') > Date.parse(before ?? new Date(0).toISOString()) - 1000);
    await printed('people', 'revoke', mail); // A repeated call also succeeds.
  });
});
