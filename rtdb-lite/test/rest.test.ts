import assert from 'node:assert/strict';
import { type Server, startServer } from '../src/server.ts';

interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly etag: string | null;
}

describe('the REST API', () => {
  let server: Server;

  before(async () => {
    server = await startServer();
  });
  after(() => server.close());

  async function call(method: string, path: string, value?: unknown, headers: object = {}): Promise<Answer> {
    const url = new URL(path, `http://127.0.0.1:${server.port}`);
    url.searchParams.set('ns', 'rest');
    const body = value === undefined ? null : JSON.stringify(value);
    const response = await fetch(url, { method, body, headers: { authorization: 'Bearer owner', ...headers } });
    const text = await response.text();
    const etag = response.headers.get('etag');
    return { status: response.status, body: text === '' ? null : JSON.parse(text), etag };
  }

  it('writes, reads, merges, appends and deletes data by PUT, GET, PATCH, POST and DELETE', async () => {
    assert.equal((await call('PUT', '/a.json', { b: { c: 1 }, l: [1, 2] })).status, 200);
    assert.deepEqual((await call('GET', '/a.json')).body, { b: { c: 1 }, l: [1, 2] });
    await call('PATCH', '/a.json', { 'b/d': 2 });
    assert.deepEqual((await call('GET', '/a/b.json')).body, { c: 1, d: 2 });
    const posted = (await call('POST', '/list.json', { q: 1 })).body;
    assert.deepEqual((await call('GET', '/list.json')).body, { [nameIn(posted)]: { q: 1 } });
    await call('DELETE', '/a/b.json');
    assert.equal((await call('GET', '/a/b.json')).body, null);
  });

  it('returns only keys for a shallow request', async () => {
    await call('PUT', '/shallow.json', { a: { x: 1 }, b: 5 });
    assert.deepEqual((await call('GET', '/shallow.json?shallow=true')).body, { a: true, b: true });
    assert.deepEqual((await call('GET', '/shallow.json?shallow=true&limitToFirst=1')).body, { a: true });
  });

  it('applies a write with the header if-match only if the ETag matches', async () => {
    await call('PUT', '/tagged.json', { a: 1 });
    const { etag } = await call('GET', '/tagged.json', undefined, { 'X-Firebase-ETag': 'true' });
    assert.ok(etag);
    assert.equal((await call('PUT', '/tagged.json', 1, { 'if-match': 'other' })).status, 412);
    assert.equal((await call('PUT', '/tagged.json', 1, { 'if-match': etag })).status, 200);
    assert.equal((await call('PUT', '/tagged.json', 2, { 'if-match': etag })).status, 412);
  });

  it('applies a write with the ETag null_etag only if the path is empty', async () => {
    const { etag } = await call('GET', '/absent.json', undefined, { 'X-Firebase-ETag': 'true' });
    assert.equal(etag, 'null_etag');
    const written = await call('PUT', '/absent.json', 1, { 'if-match': etag, 'X-Firebase-ETag': 'true' });
    assert.equal(written.status, 200);
    assert.notEqual(written.etag, 'null_etag');
    const again = await call('PUT', '/absent.json', 2, { 'if-match': 'null_etag' });
    assert.deepEqual(again, { status: 412, body: 1, etag: written.etag });
    assert.equal((await call('DELETE', '/absent.json', undefined, { 'if-match': again.etag })).status, 200);
  });

  for (const [what, method, path, header] of [
    ['a conditional PATCH', 'PATCH', '/a.json', { 'if-match': 'null_etag' }],
    ['a conditional POST', 'POST', '/a.json', { 'if-match': 'null_etag' }],
    ['a silent conditional PUT', 'PUT', '/a.json?print=silent', { 'if-match': 'null_etag' }],
    ['the ETag of a query', 'GET', '/a.json?orderBy="$key"', { 'X-Firebase-ETag': 'true' }],
    ['a shallow look at nobody knows how many', 'GET', '/a.json?shallow=true&limitToFirst=few', {}],
    ['a shallow query', 'GET', '/a.json?shallow=true&orderBy="$key"', {}],
  ] as const)
    it(`refuses ${what}`, async () => {
      const value = method === 'GET' ? undefined : {};
      assert.equal((await call(method, path, value, header)).status, 400);
    });

  it('enforces the rules and returns their source unchanged', async () => {
    const rules = { rules: { players: { '.indexOn': 'score', $uid: { '.read': 'auth.uid === $uid' } } } };
    assert.equal((await call('PUT', '/.settings/rules.json', rules)).status, 200);
    assert.deepEqual((await call('GET', '/.settings/rules.json')).body, rules);
    assert.equal((await call('PUT', '/.settings/rules.json', { rules: { '.read': 'nonsense ===' } })).status, 400);
    assert.deepEqual((await call('GET', '/.settings/rules.json')).body, rules);
    await call('PUT', '/players.json', { alice: { score: 6 }, bob: { score: 9 } });
    const nobody = await call('GET', '/players/alice.json', undefined, { authorization: '' });
    assert.equal(nobody.status, 401);
    const alice = await call('GET', `/players/alice.json?auth=${tokenOf('alice')}`, undefined, { authorization: '' });
    assert.deepEqual(alice.body, { score: 6 });
  });

  it('returns children in the order of an indexed child key', async () => {
    const top = await call('GET', '/players.json?orderBy="score"&limitToLast=1');
    assert.deepEqual(top.body, { bob: { score: 9 } });
    assert.equal((await call('GET', '/players.json?orderBy="name"&limitToLast=1')).status, 400);
    assert.equal((await call('GET', '/players.json?limitToLast=1')).status, 400);
    assert.equal((await call('GET', '/players.json?orderBy="$key"&limitToFirst=0')).status, 400);
  });

  for (const [what, method, path, value, status] of [
    ['a path without .json', 'GET', '/a', undefined, 404],
    ['a method that there is not', 'REPORT', '/a.json', undefined, 405],
    ['a key that there cannot be', 'PUT', '/a.json', { 'a.b': 1 }, 400],
    ['a patch of no object', 'PATCH', '/a.json', [1], 400],
    ['a trigger without a name', 'POST', '/.settings/functionTriggers.json', { path: '/a' }, 400],
  ] as const)
    it(`refuses ${what}`, async () => assert.equal((await call(method, path, value)).status, status));
});

function nameIn(posted: unknown): string {
  assert.ok(typeof posted === 'object' && posted !== null && 'name' in posted);
  return String(posted.name);
}

function tokenOf(uid: string): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  return `${encode({ alg: 'none', type: 'JWT' })}.${encode({ sub: uid, user_id: uid })}.`;
}
