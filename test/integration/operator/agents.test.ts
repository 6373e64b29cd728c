/** `npm run agents`: the way into a fresh project, and the way to shut an agent out. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { compose } from '../../../functions/src/app.ts';
import { systemClock } from '../../../functions/src/kernel/platform.ts';

const script = fileURLToPath(new URL('../../../scripts/agents.mjs', import.meta.url));
const project = process.env['GCLOUD_PROJECT'] ?? 'demo-muster';

function agents(...args: string[]) {
  const { stdout, stderr, status } = spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' });
  return { stdout, stderr, status };
}

describe('npm run agents', () => {
  const name = `boss-${randomUUID().slice(0, 8)}`;

  it('creates a leader whose credential works, replaces it, and revokes it', async () => {
    const first = agents(
      'create',
      '--role',
      'leader',
      '--name',
      name,
      '--owner',
      'ada',
      '--project',
      project,
    );
    assert.equal(first.status, 0, first.stderr);
    const bearer = bearerIn(first.stdout);
    const principal = await authenticate(bearer);
    assert.deepEqual([principal.kind, principal.role, principal.ownerUid], ['agent', 'leader', 'ada']);

    const second = agents(
      'create',
      '--role',
      'leader',
      '--name',
      name,
      '--owner',
      'ada',
      '--project',
      project,
    );
    assert.equal(second.status, 0, second.stderr);
    await assert.rejects(authenticate(bearer), { code: 'UNAUTHORIZED' });
    assert.equal((await authenticate(bearerIn(second.stdout))).agentId, principal.agentId);

    const revoked = agents('revoke', String(principal.agentId), '--project', project);
    assert.equal(revoked.status, 0, revoked.stderr);
    await assert.rejects(authenticate(bearerIn(second.stdout)), { code: 'UNAUTHORIZED' });
    assert.equal(agents('revoke', String(principal.agentId), '--project', project).status, 1);
  });

  it('says what is wrong with a command line, and no more', () => {
    const { status, stderr } = agents('create', '--name', 'x y', '--project', project);
    assert.equal(status, 1);
    assert.match(stderr, /--name: 3 to 50/);
    assert.doesNotMatch(stderr, /\bat .*:\d+:\d+/, 'a stack trace');
  });
});

function bearerIn(printed: string): string {
  const bearer = /^ {2}(mk_\S+)$/m.exec(printed)?.[1];
  assert.ok(bearer, printed);
  return bearer;
}

/** A composition of its own, which has no credential in its memory yet. */
function authenticate(bearer: string) {
  return compose({ clock: systemClock }).services.authenticator.authenticate(bearer);
}
