/** Production keeps the pace that GitHub asks of programs; the other tests connect without it. */
import assert from 'node:assert/strict';
import { AT, GitHubStage } from './stage.ts';

/** Source: https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api#pause-between-mutative-requests */
const BETWEEN_WRITES_MS = 1000;

/** A timer may end a little before its time by another clock. */
const TOLERANCE_MS = 20;

describe("a connection's pace", () => {
  let stage: GitHubStage;
  beforeEach(async () => {
    stage = await GitHubStage.open();
  });
  afterEach(() => stage.close());

  /** How long two writes take that nobody waits between. */
  async function twoWrites(gitHub: GitHubStage['gitHub']): Promise<number> {
    const target = stage.repo.resolve('main') ?? '';
    const began = performance.now();
    for (const name of ['one', 'two'])
      assert.equal(await gitHub.createBranch(AT, `feature/${name}`, target), 'created');
    return performance.now() - began;
  }

  it("is GitHub's in a deployment: a second between writes", async () => {
    const { pace: _none, ...settings } = stage.server.asApp;
    assert.ok((await twoWrites(stage.connect(() => settings))) >= BETWEEN_WRITES_MS - TOLERANCE_MS);
  });
});
