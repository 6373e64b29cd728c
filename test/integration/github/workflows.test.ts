/** github.getWorkflowRuns and github.getJobLogs. */
import assert from 'node:assert/strict';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { AT, GitHubFixture } from './fixture.ts';

const RUN = { ...AT, run_id: 4000000001 };

describe('workflow runs', () => {
  let fixture: GitHubFixture;

  beforeEach(async () => {
    fixture = await GitHubFixture.open();
  });

  afterEach(() => fixture.close());

  function addRuns(count: number): void {
    for (let id = 1; id <= count; id++) {
      const conclusion = id % 2 === 0 ? 'success' : null;
      const workflow = { id: 18, file: 'deploy.yml' };
      fixture.repo.runs.push({ id, workflow, title: `Run ${id}`, branch: 'main', conclusion, jobs: [] });
    }
  }

  it('are returned with all fields', async () => {
    const answer = await fixture.answer('getWorkflowRuns', AT);
    const [run] = Object(answer['runs']);
    assert.deepEqual(
      [run.id, run.title, run.branch, run.status, run.conclusion, run.workflowId, run.sha],
      [4000000001, 'End retries', 'fix/retries', 'completed', 'failure', 17, fixture.repo.resolve('fix/retries')],
    );
    const { runs: _, ...page } = answer;
    assert.deepEqual(page, { total: 1, totalPages: 1, page: 1, perPage: 30, hasNext: false, hasPrevious: false });
  });

  it('can be filtered by workflow, status and branch', async () => {
    addRuns(4);
    const idsOf = async (filters: object) => {
      const { runs } = await fixture.answer('getWorkflowRuns', { ...AT, ...filters });
      return Object(runs).map((run: { id: number }) => run.id);
    };
    assert.deepEqual(await idsOf({ workflow_id: 'ci.yml' }), [4000000001]);
    assert.deepEqual(await idsOf({ workflow_id: 17 }), [4000000001]);
    assert.deepEqual(await idsOf({ workflow_id: '18', status: 'success' }), [2, 4]);
    assert.deepEqual(await idsOf({ branch: 'main', status: 'in_progress' }), [1, 3]);
    const { runs } = await fixture.answer('getWorkflowRuns', { ...AT, status: 'in_progress' });
    assert.ok(!('conclusion' in Object(runs)[0]));
  });

  it('are returned in pages', async () => {
    addRuns(7);
    const second = await fixture.answer('getWorkflowRuns', { ...AT, limit: 3, page: 2 });
    const placeOf = ({ runs, total, totalPages, hasNext, hasPrevious }: JsonObject) => [
      Object(runs).length,
      total,
      totalPages,
      hasNext,
      hasPrevious,
    ];
    assert.deepEqual(placeOf(second), [3, 8, 3, true, true]);
    const last = await fixture.answer('getWorkflowRuns', { ...AT, limit: 3, page: 3 });
    assert.deepEqual(placeOf(last), [2, 8, 3, false, true]);
    const none = await fixture.answer('getWorkflowRuns', { ...AT, branch: 'nowhere' });
    assert.deepEqual(placeOf(none), [0, 0, 0, false, false]);
  });

  it('cause an error if the workflow, repository or run is unknown', async () => {
    const reasonOf = async (given: object) =>
      (await fixture.refusal('getWorkflowRuns', { ...AT, ...given })).data['reason'];
    assert.equal(await reasonOf({ workflow_id: 'none.yml' }), 'WORKFLOW_NOT_FOUND');
    assert.equal(await reasonOf({ repo: 'none' }), 'ACCESS_DENIED'); // The App cannot see the repository.
    assert.equal(await reasonOf({ workflow_id: '../../x.yml' }), 'INVALID_WORKFLOW');
    assert.equal(await reasonOf({ workflow_id: -1 }), 'INVALID_WORKFLOW');
    assert.equal((await fixture.refusal('getJobLogs', { ...AT, run_id: 9 })).data['reason'], 'RUN_NOT_FOUND');
  });

  it("return the last lines of failed jobs' logs as plain text", async () => {
    const { jobs } = await fixture.answer('getJobLogs', RUN);
    const [job, ...others] = Object(jobs);
    assert.deepEqual(others, []);
    const shown = [job.id, job.name, job.conclusion, job.failedSteps, job.lines];
    assert.deepEqual(shown, [502, 'test', 'failure', ['Run tests'], 4]);
    assert.equal(
      job.log,
      '##[group]Run npm test\nnpm test\n  1) retries end\n##[error]Process completed with exit code 1.',
    );
    const [tail] = Object((await fixture.answer('getJobLogs', { ...RUN, tail_lines: 2 }))['jobs']);
    assert.equal(tail.log, '  1) retries end\n##[error]Process completed with exit code 1.');
  });

  it('have logs of failed jobs, even among many jobs; the response states if there are more', async () => {
    const add = (id: number, conclusions: readonly ('success' | 'failure')[]) => {
      const jobs = conclusions.map((conclusion, index) => {
        return { id: 1000 * id + index, name: `job ${index}`, conclusion, log: 'It broke.' };
      });
      const run = { id, workflow: { id: 17, file: 'ci.yml' }, title: 'Many', branch: 'main' };
      fixture.repo.runs.push({ ...run, conclusion: 'failure', jobs });
    };
    add(
      7,
      Array.from({ length: 150 }, (_, index) => (index === 120 ? 'failure' : 'success')),
    );
    add(
      8,
      Array.from({ length: 250 }, () => 'failure'),
    );
    const found = await fixture.answer('getJobLogs', { ...AT, run_id: 7 });
    const logs = Object(found['jobs']).map(({ name, log }: JsonObject) => [name, log]);
    assert.deepEqual(logs, [['job 120', 'It broke.']]);
    assert.equal(found['more'], false);
    const many = await fixture.answer('getJobLogs', { ...AT, run_id: 8 });
    assert.deepEqual([Object(many['jobs']).length, many['more']], [20, true]);
  });

  it('include failed jobs whose log has expired, but without the log', async () => {
    const workflow = { id: 17, file: 'ci.yml' };
    const missing = { id: 601, name: 'old', conclusion: 'failure' as const };
    const run = { id: 5, workflow, title: 'Old', branch: 'main', conclusion: 'failure' as const, jobs: [missing] };
    fixture.repo.runs.push(run);
    const [job] = Object((await fixture.answer('getJobLogs', { ...AT, run_id: 5 }))['jobs']);
    assert.deepEqual([job.name, job.lines, 'log' in job], ['old', 0, false]);
  });

  it('return the last lines of a large log', async () => {
    const log = `${'x'.repeat(70)}\n`.repeat(100_000).concat('the end\n');
    const failed = { id: 602, name: 'big', conclusion: 'failure' as const, log };
    const workflow = { id: 17, file: 'ci.yml' };
    fixture.repo.runs.push({ id: 6, workflow, title: 'Big', branch: 'main', conclusion: 'failure', jobs: [failed] });
    const [job] = Object((await fixture.answer('getJobLogs', { ...AT, run_id: 6, tail_lines: 2 }))['jobs']);
    assert.equal(job.log, `${'x'.repeat(70)}\nthe end`);
  });

  it("cause an error without the host's address if the host of the logs is unreachable", async () => {
    const route = 'GET /repos/{owner}/{repo}/actions/jobs/{job_id}/logs';
    for (const location of ['http://127.0.0.1:1/secret?sig=abc', 'nonsense', '']) {
      fixture.gitHub.fail({ route, status: 302, headers: { location }, text: '' });
      const error = await fixture.refusal('getJobLogs', RUN);
      assert.equal(error.code, -32501);
      assert.ok(!JSON.stringify(error).includes('sig='));
    }
  });
});
