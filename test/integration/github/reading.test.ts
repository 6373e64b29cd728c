/** github.readFile and github.searchCode against the local GitHub. */
import assert from 'node:assert/strict';
import { README } from '../../support/github/seed.ts';
import { AT, GitHubFixture } from './fixture.ts';

const README_FILE = { ...AT, path: 'README.md' };

describe('a GitHub read', () => {
  let fixture: GitHubFixture;

  beforeEach(async () => {
    fixture = await GitHubFixture.open();
  });

  afterEach(() => fixture.close());

  const metadataOf = async (path: string, more = {}) =>
    (await fixture.answer('readFile', { ...AT, path, ...more }))['metadata'];

  it('returns the file as in the example of the specification', async () => {
    const answer = await fixture.answer('readFile', { ...README_FILE, ref: 'main' });
    assert.equal(answer['content'], README);
    const sha = fixture.repo.objects.filesOf(fixture.repo.resolve('main') ?? '').get('README.md')?.sha;
    assert.deepEqual(answer['metadata'], {
      path: 'README.md',
      size: README.length,
      sha,
      encoding: 'utf8',
      type: 'file',
    });
  });

  it('returns a file at a branch or commit, and as base64 on request', async () => {
    const commit = fixture.repo.resolve('fix/retries') ?? '';
    for (const ref of ['fix/retries', commit]) {
      const { content } = await fixture.answer('readFile', { ...AT, path: 'src/retry.ts', ref });
      assert.equal(content, 'export const MAX_RETRIES = 3;\n');
    }
    const { content } = await fixture.answer('readFile', { ...README_FILE, encoding: 'base64' });
    assert.equal(Buffer.from(String(content), 'base64').toString(), README);
  });

  it('returns binary files as base64, and states the encoding', async () => {
    const { content, metadata } = await fixture.answer('readFile', { ...AT, path: 'docs/images/logo.png' });
    assert.deepEqual([...Buffer.from(String(content), 'base64')], [0x89, 0x50, 0x4e, 0x47, 0, 0xff]);
    assert.equal(Object(metadata).encoding, 'base64');
  });

  it('returns a file of more than 1 MB in parts, from its blob', async () => {
    const large = 'Zeile ä\n'.repeat(200_000);
    fixture.repo.push('main', { 'large.txt': large, empty: '' });
    let [read, parts] = ['', 0];
    for (let offset: unknown = 0; offset !== undefined; parts += 1) {
      const { content, metadata } = await fixture.answer('readFile', {
        ...AT,
        path: 'large.txt',
        offset: Number(offset),
      });
      read += String(content);
      offset = Object(metadata).nextOffset;
    }
    assert.ok(read === large);
    assert.ok(parts > 1);
    assert.equal(fixture.gitHub.count('GET /repos/{owner}/{repo}/git/blobs/{file_sha}'), parts);
    assert.equal((await fixture.answer('readFile', { ...AT, path: 'empty' }))['content'], '');
  });

  it('is rejected for a file over 5 MiB', async () => {
    fixture.repo.push('main', { huge: Buffer.alloc(5_242_881, 'x') });
    const { data } = await fixture.refusal('readFile', { ...AT, path: 'huge' });
    assert.deepEqual([data['reason'], data['field']], ['SIZE_LIMIT_EXCEEDED', 'path']);
  });

  it('follows symbolic links inside the repository, and describes other links and submodules', async () => {
    assert.equal((await fixture.answer('readFile', { ...AT, path: 'latest' }))['content'], README);
    assert.equal((await fixture.answer('readFile', { ...AT, path: 'outside' }))['content'], '../elsewhere');
    assert.equal(Object(await metadataOf('outside')).type, 'symlink');
    const submodule = Object(await metadataOf('vendor/library'));
    const shown = [submodule.type, submodule.sha, submodule.url];
    assert.deepEqual(shown, ['submodule', 'a'.repeat(40), 'https://github.com/sartor-ai/library.git']);
  });

  it('of a directory fails with an error that lists the entries', async () => {
    const { code, data } = await fixture.refusal('readFile', { ...AT, path: 'docs' });
    assert.deepEqual([code, data['reason']], [-32300, 'IS_DIRECTORY']);
    assert.deepEqual(data['entries'], ['guide.md', 'images/']);
  });

  it('of a large directory fails with the first 100 entries and their total', async () => {
    const files = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`many/${index}`, 'x']));
    fixture.repo.push('main', files);
    const { data } = await fixture.refusal('readFile', { ...AT, path: 'many' });
    assert.equal(Object(data['entries']).length, 100);
    assert.match(String(data['suggestion']), /the first 100 of 150/);
  });

  it('names the default branch in the error if the repository has no branch main', async () => {
    const old = fixture.gitHub.world.repository('sartor-ai', 'old');
    old.defaultBranch = 'master';
    old.push('master', { 'README.md': 'old' });
    fixture.gitHub.world.installations[0]?.repositories.add(old.fullName);
    const { data } = await fixture.refusal('readFile', { owner: 'sartor-ai', repo: 'old', path: 'README.md' });
    assert.deepEqual([data['reason'], data['entries']], ['REF_NOT_FOUND', ['master']]);
  });

  it('succeeds in a public repository without an installation of the App', async () => {
    fixture.gitHub.world.repository('octocat', 'hello').push('main', { 'a.txt': 'hello' });
    const { content } = await fixture.answer('readFile', { owner: 'octocat', repo: 'hello', path: 'a.txt' });
    assert.equal(content, 'hello');
  });

  it('succeeds with a personal access token instead of the App', async () => {
    fixture.app = fixture.compose(() => fixture.asPerson);
    assert.equal((await fixture.answer('readFile', README_FILE))['content'], README);
    assert.equal(fixture.gitHub.count('GET /repos/{owner}/{repo}/installation'), 0);
  });

  it('that searches code returns lines, highlights and stars', async () => {
    const filters = { owner: 'sartor-ai', repo: 'claude-network' };
    const answer = await fixture.answer('searchCode', { query: 'registerAgent', filters });
    assert.deepEqual(answer, {
      results: [
        {
          repository: {
            ...AT,
            name: AT.repo,
            description: 'A distributed AI agent system',
            stars: 42,
            repo: undefined,
          },
          path: 'src/agents.ts',
          matches: [{ line: 3, text: 'export function registerAgent(name: string) {', highlight: 'registerAgent' }],
        },
      ].map(({ repository: { repo: _, ...repository }, ...rest }) => ({ repository, ...rest })),
      total: 1,
      page: 1,
      perPage: 30,
      hasNext: false,
      incomplete: false,
    });
  });

  it('that searches code supports filters and pages, and returns nothing without matches', async () => {
    const files = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`lib/${index}.ts`, 'needle']));
    fixture.repo.push('main', { ...files, 'other/a.md': 'needle' });
    const filters = { owner: 'sartor-ai', path: 'lib', extension: '.ts' };
    const second = await fixture.answer('searchCode', { query: 'needle', filters, perPage: 5, page: 2 });
    assert.deepEqual([second['total'], Object(second['results']).length, second['hasNext']], [12, 5, true]);
    const nothing = await fixture.answer('searchCode', { query: 'haystack' });
    assert.deepEqual([nothing['total'], nothing['results']], [0, []]);
    const { data } = await fixture.refusal('searchCode', { query: 'needle', perPage: 100, page: 11 });
    assert.equal(data['reason'], 'PAGE_OUT_OF_RANGE');
  });

  it('that searches code returns matches in unreadable files without line numbers', async () => {
    fixture.gitHub.fail({ route: 'GET /repos/{owner}/{repo}/git/blobs/{file_sha}', status: 404 });
    const { results } = await fixture.answer('searchCode', { query: 'registerAgent' });
    const [{ matches }] = Object(results);
    assert.deepEqual(Object.keys(matches[0]), ['text', 'highlight']);
  });

  it('that searches code rejects filters that would add a qualifier to the query', async () => {
    for (const path of ['src" repo:octocat/secret "', 'a\\"b', 'a\nb', ' ']) {
      const { data } = await fixture.refusal('searchCode', { query: 'x', filters: { path } });
      assert.deepEqual([data['reason'], data['field']], ['INVALID_FILTER', 'filters.path']);
    }
    assert.equal(fixture.gitHub.seen.length, 0);
  });
});
