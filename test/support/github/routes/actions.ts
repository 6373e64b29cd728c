/** Routes for workflow runs, their jobs, and the addresses of the jobs' logs. */
import { exampleOf } from '../description.ts';
import { type Asked, notFound, pageOf, Refused, type Reply, type Routes, visible } from '../routing.ts';
import type { Job, Repo, Run } from '../state.ts';

export const actions: Routes = {
  'GET /repos/{owner}/{repo}/actions/runs': (asked) => runsOf(asked, () => true),

  'GET /repos/{owner}/{repo}/actions/workflows/{workflow_id}/runs': (asked) => {
    const named = asked.path['workflow_id'] ?? '';
    const isNamed = ({ workflow }: Run) => workflow.file === named || String(workflow.id) === named;
    if (!visible(asked).runs.some(isNamed)) throw notFound();
    return runsOf(asked, isNamed);
  },

  'GET /repos/{owner}/{repo}/actions/runs/{run_id}/jobs': (asked) => {
    const run = visible(asked).runs.find(({ id }) => String(id) === asked.path['run_id']);
    if (run === undefined) throw notFound();
    const jobs = pageOf(asked, run.jobs).map((job) => shownJob(run, job));
    return { status: 200, body: { total_count: run.jobs.length, jobs } };
  },

  'GET /repos/{owner}/{repo}/actions/jobs/{job_id}/logs': (asked) => {
    const jobs = visible(asked).runs.flatMap((run) => run.jobs);
    const job = jobs.find(({ id }) => String(id) === asked.path['job_id']);
    if (job === undefined) throw notFound();
    if (job.log === undefined) throw new Refused(410, 'Server Error: the log is gone');
    return { status: 302, headers: { location: `${asked.origin}/-/logs/${job.id}?sig=for-one-minute` } };
  },
};

function runsOf(asked: Asked, isMeant: (run: Run) => boolean): Reply {
  const repo = visible(asked);
  const { status, branch } = asked.query;
  const found = repo.runs.filter(
    (run) =>
      isMeant(run) &&
      (branch === undefined || run.branch === branch) &&
      (status === undefined || status === (run.conclusion ?? 'in_progress') || status === stateOf(run)),
  );
  const shown = pageOf(asked, found).map((run) => shownRun(repo, run));
  return { status: 200, body: { total_count: found.length, workflow_runs: shown } };
}

function stateOf({ conclusion }: Run): string {
  return conclusion === null ? 'in_progress' : 'completed';
}

function shownRun(repo: Repo, run: Run): unknown {
  const example = Object(exampleOf('GET /repos/{owner}/{repo}/actions/runs', 200)).workflow_runs[0];
  return {
    ...example,
    id: run.id,
    workflow_id: run.workflow.id,
    display_title: run.title,
    head_branch: run.branch,
    head_sha: repo.branches.get(run.branch) ?? example.head_sha,
    status: stateOf(run),
    conclusion: run.conclusion,
  };
}

function shownJob(run: Run, job: Job): unknown {
  const example = Object(exampleOf('GET /repos/{owner}/{repo}/actions/runs/{run_id}/jobs', 200)).jobs[0];
  const [step] = example.steps;
  const steps = [{ ...step, name: 'Run tests', conclusion: job.conclusion }];
  const created_at = example.started_at; // The schema requires this field, but GitHub's example lacks it.
  return { ...example, created_at, id: job.id, run_id: run.id, name: job.name, conclusion: job.conclusion, steps };
}
