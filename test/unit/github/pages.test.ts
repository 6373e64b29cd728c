import assert from 'node:assert/strict';
import type { Job } from '../../support/github/state.ts';
import { AT, GitHubFixture } from './fixture.ts';

const JOBS = 'GET /repos/{owner}/{repo}/actions/runs/{run_id}/jobs';
const ISSUES = 'GET /repos/{owner}/{repo}/issues';

describe('filtered list of GitHub data', () => {
  let fixture: GitHubFixture;

  beforeEach(async () => {
    fixture = await GitHubFixture.open();
  });
  afterEach(() => fixture.close());

  /** Adds a workflow run with this number of jobs; `failed` selects the jobs that failed. */
  function addRun(count: number, failed: (index: number) => boolean): void {
    const jobs = Array.from({ length: count }, (_, index): Job => {
      return { id: index + 1, name: `job ${index}`, conclusion: failed(index) ? 'failure' : 'success' };
    });
    const workflow = { id: 17, file: 'ci.yml' };
    fixture.repo.runs.push({ id: 9, workflow, title: 'Many', branch: 'main', conclusion: 'failure', jobs });
  }

  const found = async () => {
    const { jobs, more } = (await fixture.gitHub.failedJobs(AT, 9)) ?? assert.fail();
    return { names: jobs.map(({ name }) => name), more, requests: fixture.answered(JOBS).length };
  };

  for (const [count, place, requests] of [
    [100, 99, 1],
    [101, 100, 2],
    [150, 120, 2],
    [250, 249, 3],
  ] as const)
    it(`contains the failed job at index ${place} of ${count} jobs`, async () => {
      addRun(count, (index) => index === place);
      assert.deepEqual(await found(), { names: [`job ${place}`], more: false, requests });
    });

  it('is read until enough failed jobs are found, and reports that more exist', async () => {
    addRun(300, (index) => index >= 50);
    const { names, more, requests } = await found();
    assert.deepEqual([names.length, more, requests], [20, true, 1]);
  });

  it('reports that more may exist if a very long list was not read completely', async () => {
    addRun(1500, (index) => index === 1400);
    assert.deepEqual(await found(), { names: [], more: true, requests: 10 });
  });

  it('is reported as complete if no job has failed', async () => {
    addRun(120, () => false);
    assert.deepEqual(await found(), { names: [], more: false, requests: 2 });
  });

  it('contains an issue with a marker text, even if hundreds of issues are newer', async () => {
    const add = (number: number, body: string) => {
      const issue = { number, title: 'One', body, labels: [], assignees: [], createdAt: new Date() };
      fixture.repo.issues.push({ ...issue, state: 'open' });
    };
    add(1000, 'It has the mark <!-- muster:1 -->');
    for (let number = 1001; number < 1250; number++) add(number, 'Another');
    assert.equal((await fixture.gitHub.findIssue(AT, '<!-- muster:1 -->', new Date(0)))?.number, 1000);
    assert.equal(fixture.answered(ISSUES).length, 3);
    assert.equal(await fixture.gitHub.findIssue(AT, '<!-- muster:2 -->', new Date(0)), undefined);
  });
});
