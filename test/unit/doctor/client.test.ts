/** Requests to Google's APIs: pages, retries, and errors that are returned instead of thrown. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { neededRoles, PACKAGES } from '../../../scripts/doctor/needs.ts';
import { originIn } from '../../../scripts/google/apis.ts';
import { Google } from '../../../scripts/google/client.ts';
import { failureOf } from '../../../scripts/google/failure.ts';
import { granting, rolesIn } from '../../../scripts/google/policy.ts';
import { PROJECT, recordingOf } from '../../support/google/answers.ts';
import { googleError, LocalGoogle, TOKEN } from '../../support/google/server.ts';
import { close, listen } from '../../support/listening.ts';

const topics = { api: 'pubsub.googleapis.com', path: `v1/projects/${PROJECT}/topics` } as const;
const topic = z.object({ name: z.string() });

describe('request to an API of Google', () => {
  let local: LocalGoogle;
  const pauses: number[] = [];
  const google = (origin: string, token = TOKEN) =>
    new Google({
      project: PROJECT,
      token: async () => token,
      origin,
      pause: async (milliseconds) => void pauses.push(milliseconds),
    });

  beforeEach(async () => {
    pauses.length = 0;
    local = new LocalGoogle((await recordingOf('healthy')).answers);
    await local.start();
  });

  afterEach(() => local.stop());

  it('is retried a limited number of times if Google asks the caller to wait', async () => {
    const path = `${topics.api}/${topics.path}`;
    local.busy.set(path, 2);
    const answer = await google(local.url).list({ ...topics, schema: topic }, 'topics');
    assert.ok(answer.ok && answer.value.length > 0);
    assert.deepEqual(pauses, [1000, 2000]);
    local.busy.set(path, 100);
    const refused = await google(local.url).list({ ...topics, schema: topic }, 'topics');
    assert.deepEqual(refused, {
      ok: false,
      failure: { status: 503, message: 'The service is currently unavailable.', reason: 'UNAVAILABLE' },
    });
    assert.equal(local.busy.get(path), 96);
  });

  it('is retried after a lost connection, unless the request may have changed something', async () => {
    let requests = 0;
    const server = createServer((request, response) =>
      requests++ === 0 ? request.socket.destroy() : response.end('{"name":"one"}'),
    );
    const origin = await listen(server);
    assert.ok((await google(origin).get({ ...topics, schema: topic })).ok);
    assert.equal(requests, 2);
    requests = 0;
    assert.ok(!(await google(origin).send({ ...topics, method: 'POST', body: {}, schema: topic })).ok);
    assert.equal(requests, 1);
    await close(server);
  });

  it('reads all pages of a list', async () => {
    const page = (name: string, nextPageToken?: string) => ({
      topics: [{ name }],
      ...(nextPageToken && { nextPageToken }),
    });
    const pages = [page('one', 'next'), page('two')];
    local.answers.get = (path) =>
      path.endsWith('/topics') ? pages.shift() : Map.prototype.get.call(local.answers, path);
    const answer = await google(local.url).list({ ...topics, schema: topic }, 'topics');
    assert.deepEqual(answer, { ok: true, value: [{ name: 'one' }, { name: 'two' }] });
  });

  it('returns a failure if Google refuses, does not respond or sends an unknown format', async () => {
    const denied = googleError(403, 'PERMISSION_DENIED', 'You may not.');
    local.answers.set(`${topics.api}/${topics.path}`, denied);
    const refused = await google(local.url).get({ ...topics, schema: topic });
    assert.deepEqual(refused, {
      ok: false,
      failure: { status: 403, message: 'You may not.', reason: 'PERMISSION_DENIED' },
    });
    const unanswered = await google('http://127.0.0.1:1').get({ ...topics, schema: topic });
    assert.ok(!unanswered.ok && unanswered.failure.status === 0);
    assert.match(unanswered.failure.message, /^127\.0\.0\.1:1 did not respond: /);
    assert.deepEqual(failureOf(502, '<html>Bad gateway</html>'), { status: 502, message: '<html>Bad gateway</html>' });
    assert.deepEqual(local.faults, []);
  });

  it('goes to Google or to the configured URL, which must use https except on this machine', () => {
    assert.equal(originIn({}), undefined);
    assert.equal(originIn({ MUSTER_GOOGLE_URL: 'http://127.0.0.1:7/' }), 'http://127.0.0.1:7');
    assert.throws(() => originIn({ MUSTER_GOOGLE_URL: 'http://google.example' }), /must use https/);
  });
});

describe('Google Cloud roles that a deployment needs', () => {
  it('are derived from the packages that the functions import', () => {
    const source = fileURLToPath(new URL('../../../functions/src', import.meta.url));
    const imported = globSync('**/*.ts', { cwd: source }).flatMap((file) =>
      [
        ...readFileSync(`${source}/${file}`, 'utf8').matchAll(
          /(?:from|import\() ?'((?:firebase-admin|@google-cloud)\/[^']+)'/g,
        ),
      ].map(([, name]) => name),
    );
    // The package firebase-admin/app makes no requests itself, so it needs no role.
    const callers = new Set(imported.filter((name) => name !== 'firebase-admin/app'));
    assert.deepEqual([...callers].sort(), Object.keys(PACKAGES).sort());
  });

  it('are exactly the eight roles that this test lists', async () => {
    const { declared } = await recordingOf('healthy');
    assert.deepEqual(neededRoles(declared), [
      'roles/cloudtasks.enqueuer',
      'roles/datastore.user',
      'roles/eventarc.eventReceiver',
      'roles/firebaseauth.viewer',
      'roles/firebasecloudmessaging.admin',
      'roles/firebasedatabase.admin',
      'roles/logging.logWriter',
      'roles/pubsub.publisher',
    ]);
  });

  it('permit reading accounts and signing tokens, but not changing accounts', () => {
    const source = fileURLToPath(new URL('../../../functions/src', import.meta.url));
    const called = globSync('**/*.ts', { cwd: source }).flatMap((file) =>
      [...readFileSync(`${source}/${file}`, 'utf8').matchAll(/getAuth\((?:[^()]|\(\))*\)\s*\.(\w+)/g)].map(
        ([, name]) => name,
      ),
    );
    // `getUsers` needs firebaseauth.users.get, `createCustomToken` needs iam.serviceAccounts.signBlob. Source:
    // https://docs.cloud.google.com/iam/docs/roles-permissions/firebaseauth
    assert.deepEqual([...new Set(called)].sort(), ['createCustomToken', 'getUsers', 'verifyIdToken']);
  });

  it('are added to a policy without changing its existing bindings', () => {
    const condition = { title: 'until Friday', expression: 'true' };
    const before = {
      etag: 'BwYx',
      bindings: [
        { role: 'roles/a', members: ['user:x'] },
        { role: 'roles/b', members: ['serviceAccount:y'], condition },
      ],
    };
    const after = granting(before, 'serviceAccount:y', ['roles/a', 'roles/b']);
    assert.deepEqual(rolesIn(after, 'serviceAccount:y'), ['roles/a', 'roles/b']);
    assert.deepEqual(after.bindings.slice(0, 2), before.bindings);
    assert.equal(after['etag'], 'BwYx');
    assert.deepEqual(granting(after, 'serviceAccount:y', ['roles/a']), after);
  });
});
