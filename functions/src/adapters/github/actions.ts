/** Workflow runs and the logs of their jobs. Source: https://docs.github.com/rest/actions */
import { z } from 'zod';
import { gitHubUnavailable, tooSlow } from '../../domain/github/errors.ts';
import type { Job, WorkflowRunQuery, WorkflowRuns } from '../../domain/github/port.ts';
import type { RepositoryName } from '../../domain/github/repository.ts';
import { checked, job, workflowRun } from './answers.ts';
import { find, unless } from './asking.ts';
import type { Client } from './request.ts';

const FAILURES: readonly (string | undefined)[] = ['failure', 'timed_out', 'startup_failure'];

/** How many of a run's jobs are looked at, and of the failed ones told. */
const MAX_JOBS = 100;
const MAX_FAILED_JOBS = 20;

/** A log is read to its end only up to here. */
const MAX_LOG_BYTES = 50_000_000;

const LOG_PATIENCE_MILLISECONDS = 20_000;

const LOG_ROUTE = 'GET /repos/{owner}/{repo}/actions/jobs/{job_id}/logs';

const runs = z.object({ total_count: z.int().min(0), workflow_runs: z.array(workflowRun) });

const jobs = z.object({ jobs: z.array(job) });

export async function listRuns(
  client: Client,
  at: RepositoryName,
  { workflow, status, branch, page, perPage }: WorkflowRunQuery,
): Promise<WorkflowRuns | undefined> {
  const filters = { ...(status !== undefined && { status }), ...(branch !== undefined && { branch }) };
  const parameters = { ...at, ...filters, page, per_page: perPage };
  const answer =
    workflow === undefined
      ? await find(client, 'GET /repos/{owner}/{repo}/actions/runs', parameters)
      : await find(client, 'GET /repos/{owner}/{repo}/actions/workflows/{workflow_id}/runs', {
          ...parameters,
          workflow_id: workflow,
        });
  if (answer === undefined) return undefined;
  const { total_count: total, workflow_runs } = checked(runs, answer);
  return { total, runs: workflow_runs };
}

export async function listFailedJobs(
  client: Client,
  at: RepositoryName,
  runId: number,
): Promise<readonly Job[] | undefined> {
  const route = 'GET /repos/{owner}/{repo}/actions/runs/{run_id}/jobs';
  const answer = await find(client, route, { ...at, run_id: runId, filter: 'latest', per_page: MAX_JOBS });
  if (answer === undefined) return undefined;
  const failed = checked(jobs, answer).jobs.filter(({ conclusion }) => FAILURES.includes(conclusion));
  return failed.slice(0, MAX_FAILED_JOBS);
}

/** GitHub answers with a short-lived address elsewhere, which is fetched without our token. */
export async function readJobLog(
  client: Client,
  at: RepositoryName,
  jobId: number,
  most: number,
): Promise<string | undefined> {
  const parameters = { ...at, job_id: jobId, request: { redirect: 'manual' } };
  const answer = await unless(client, LOG_ROUTE, parameters, ({ status }) =>
    status === 404 || status === 410 ? 'gone' : undefined,
  );
  if (answer === 'gone') return undefined;
  const { location } = answer.headers;
  if (typeof location !== 'string' || !URL.canParse(location)) {
    throw gitHubUnavailable('UNAVAILABLE', `${LOG_ROUTE}: ${answer.status} without an address`);
  }
  return download(location, most);
}

/** The end of what is there. The address is a secret for a minute: it gets into no error. */
async function download(address: string, most: number): Promise<string | undefined> {
  const signal = AbortSignal.timeout(LOG_PATIENCE_MILLISECONDS);
  try {
    const response = await fetch(address, { redirect: 'error', signal });
    if (response.status === 404 || response.status === 410) return undefined;
    if (!response.ok || response.body === null) throw new Error(`HTTP ${response.status}`);
    return await endOf(response.body, most);
  } catch (error) {
    if (signal.aborted) throw tooSlow(LOG_ROUTE);
    const said = error instanceof Error && /^HTTP \d+$/.test(error.message) ? error.message : 'no connection';
    throw gitHubUnavailable('CONNECTION_ERROR', `the log's host: ${said}`);
  }
}

async function endOf(body: ReadableStream<Uint8Array>, most: number): Promise<string> {
  const decoder = new TextDecoder();
  let kept = '';
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_LOG_BYTES) break;
    kept = (kept + decoder.decode(chunk, { stream: true })).slice(-most);
  }
  return kept;
}
