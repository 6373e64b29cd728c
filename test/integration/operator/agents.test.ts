/** `npm run agents` creates the first agent in a new project, and revokes agents. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { getAuth } from 'firebase-admin/auth';
import { z } from 'zod';
import { DEFAULT_CONFIGURATION } from '../../../functions/src/agents/rules/agent.ts';
import { compose } from '../../../functions/src/composition/compose.ts';
import { roleIn } from '../../../functions/src/identity/rules/principal.ts';
import { firebaseApp } from '../../../functions/src/kernel/realtime/database.ts';
import { externalServicesOf } from '../../support/externalServices.ts';
import { unkeyed } from '../coordination/team.ts';
import { authenticate, bearerIn, dataOf, printed, project, run, withoutJava } from './commands.ts';

describe('npm run agents', () => {
  const some = randomUUID().slice(0, 8);
  const name = `boss-${some}`;
  const owner = `ada-${some}`;

  it('creates a leader with a working credential, replaces it, and revokes it', async () => {
    const wanted = ['--role', 'leader', '--name', name, '--owner', owner];
    await assert.rejects(printed('agents', 'create', ...wanted), /Unknown person/, 'misspelled');
    await getAuth(firebaseApp()).createUser({ uid: owner });
    await printed('people', 'set-role', owner, 'admin');
    const first = await printed('agents', 'create', ...wanted);
    const principal = await authenticate(bearerIn(first));
    assert.deepEqual([principal.kind, principal.maxRole, principal.owner_uid], ['agent', 'leader', owner]);
    assert.equal(roleIn(principal, 'default'), 'leader');

    const second = await printed('agents', 'create', '--role', 'leader', '--name', name, '--owner', owner);
    await assert.rejects(authenticate(bearerIn(first)), { code: 'UNAUTHORIZED' });
    assert.equal((await authenticate(bearerIn(second))).agent_id, principal.agent_id);

    const agentId = String(principal.agent_id);
    const { services } = compose(externalServicesOf());
    const draft = { name: `child-${some}`, type: 'developer', version: '1.0.0', capability_details: [] } as const;
    const child = await services.registration.register(
      { principal, workspace: 'default' },
      { ...draft, configuration: DEFAULT_CONFIGURATION },
      { argumentsHash: undefined, recordResponse: unkeyed, derivedSecret: unkeyed, derivedId: unkeyed },
      unkeyed,
    );
    const output = await printed('agents', 'revoke', agentId);
    assert.match(output, new RegExp(`Revoked agents that this agent registered: ${child.agent.id}`));
    for (const bearer of [bearerIn(second), `${child.credential.api_key}.${child.secret}`])
      await assert.rejects(authenticate(bearer), { code: 'UNAUTHORIZED' });
    await assert.rejects(printed('agents', 'revoke', agentId), /has no credential/);
  });

  it('renews a restricted credential with its restrictions, unless an option removes them', async () => {
    const own = ['--name', `narrow-${some}`, '--owner', owner];
    const limits = ['--toolsets', 'todo,system', '--held-to', 'default', '--read-only'];
    const narrow = await authenticate(bearerIn(await printed('agents', 'create', ...own, ...limits)));
    const { toolsets, held_to: heldTo, readonly } = narrow;
    assert.deepEqual(
      { toolsets, heldTo, readonly },
      { toolsets: ['todo', 'system'], heldTo: 'default', readonly: true },
    );

    const agentId = String(narrow.agent_id);
    const renewed = await printed('agents', 'renew', agentId);
    assert.match(renewed, /only todo, system; only in default; read only/);
    assert.deepEqual((await authenticate(bearerIn(renewed))).toolsets, ['todo', 'system']);

    const wide = await authenticate(bearerIn(await printed('agents', 'renew', agentId, '--without-limits')));
    assert.deepEqual([wide.toolsets, wide.held_to, wide.readonly], [undefined, undefined, undefined]);
    await assert.rejects(authenticate(bearerIn(renewed)), { code: 'UNAUTHORIZED' });
  });

  it("changes a role, warns about the owner's missing role, and lists agents without secrets", async () => {
    const made = await printed(
      'agents',
      'create',
      '--name',
      `far-${some}`,
      '--owner',
      owner,
      '--workspace',
      'far-away',
    );
    const { agent_id: agentId, workspace } = await authenticate(bearerIn(made));
    assert.equal(workspace, 'far-away');
    assert.match(
      await printed('agents', 'set-role', String(agentId), 'leader'),
      /gets the role leader within 5 seconds; its previous role was worker/,
    );
    assert.equal((await authenticate(bearerIn(made))).maxRole, 'leader');

    const listed = z
      .array(z.object({ agentId: z.string(), role: z.string(), home: z.string() }))
      .parse(await dataOf('agents', 'list', '--owner', owner, '--workspace', 'far-away'));
    assert.deepEqual(listed, [{ agentId, role: 'leader', home: 'far-away' }]);
    const lines = await printed('agents', 'list', '--owner', owner);
    assert.match(lines, new RegExp(`${agentId}: leader of ${owner}, home workspace far-away; until .*Z; active`));
    assert.match(lines, new RegExp(`boss-\\S+: leader of ${owner}, home workspace default; no credential`));
    assert.doesNotMatch(lines, /mk_/);
  });

  it('runs on a machine without Java', () => {
    const { env, remove } = withoutJava();
    try {
      const { status, stderr } = run('agents', ['list', '--owner', 'nobody', '--project', project], env);
      assert.equal(status, 0, stderr);
    } finally {
      remove();
    }
  });

  it('prints only the error if the agent is unknown', () => {
    const { status, stderr } = run('agents', ['renew', `nobody-${some}`, '--project', project]);
    assert.equal(status, 1);
    assert.equal(stderr, `Agent "nobody-${some}" not found.\n`);
  });
});
