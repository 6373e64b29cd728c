/** Delay between writes to GitHub, which is active in production and disabled in other tests. */
import assert from 'node:assert/strict';
import { AT, GitHubFixture } from './fixture.ts';

/** Source: https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api#pause-between-mutative-requests */
const BETWEEN_WRITES_MS = 1000;

/** Tolerance in milliseconds, because a timer may fire slightly early according to another clock. */
const TOLERANCE_MS = 20;

describe('throttling of writes to GitHub', () => {
  let fixture: GitHubFixture;
  beforeEach(async () => {
    fixture = await GitHubFixture.open();
  });
  afterEach(() => fixture.close());

  /** Returns the duration of two writes, the second of which is requested as soon as the first has ended. */
  async function twoWrites(gitHub: GitHubFixture['gitHub']): Promise<number> {
    const target = fixture.repo.resolve('main') ?? '';
    const began = performance.now();
    for (const name of ['one', 'two'])
      assert.equal(await gitHub.createBranch(AT, `feature/${name}`, target), 'created');
    return performance.now() - began;
  }

  it('waits a second between writes by default, as GitHub recommends', async () => {
    const { pace: _none, ...settings } = fixture.server.asApp;
    assert.ok((await twoWrites(fixture.connect(() => settings))) >= BETWEEN_WRITES_MS - TOLERANCE_MS);
  });
});
