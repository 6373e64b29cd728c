/** Workflow runs and the logs of their jobs. Source: https://docs.github.com/rest/actions */

import { z } from 'zod';
import { MusterError } from '../../kernel/errors.ts';
import {
  gitHubUnavailable,
  type Issue,
  type Job,
  type NewIssue,
  type NewPullRequest,
  type PullRequest,
  type RepositoryName,
  tooSlow,
  type WorkflowRunQuery,
  type WorkflowRuns,
} from '../../toolsets/github/index.ts';
import { checked, issue, job, pullRequest, workflowRun } from './answers.ts';
import { type Client, find, once, unless } from './asking.ts';

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

// Issues and pull requests. Source: https://docs.github.com/rest/issues, https://docs.github.com/rest/pulls

/** How many of the newest issues are looked through for a mark. */
const LOOKED_THROUGH = 100;

const listed = z.object({ body: z.string().nullish(), pull_request: z.unknown().optional() });

export async function createIssue(
  client: Client,
  at: RepositoryName,
  fields: NewIssue,
): Promise<Issue | 'unanswered' | undefined> {
  const route = 'POST /repos/{owner}/{repo}/issues';
  const answer = await once(client, route, { ...at, ...fields }, ({ status }) => {
    if (status === 404) return 'missing';
    return status === 410 ? 'off' : undefined;
  });
  if (answer === 'off') throw issuesAreOff();
  if (answer === 'unanswered') return answer;
  return answer === 'missing' ? undefined : checked(issue, answer);
}

export async function findIssue(
  client: Client,
  at: RepositoryName,
  marker: string,
  since: Date,
): Promise<Issue | undefined> {
  const parameters = {
    ...at,
    state: 'all',
    sort: 'created',
    direction: 'desc',
    since: since.toISOString(),
    per_page: LOOKED_THROUGH,
  };
  // 410: issues are switched off.
  const answer = await unless(client, 'GET /repos/{owner}/{repo}/issues', parameters, ({ status }) =>
    status === 404 || status === 410 ? 'none' : undefined,
  );
  if (answer === 'none') return undefined;
  const marked = checked(z.array(z.unknown()), answer).filter((one) => {
    const read = listed.safeParse(one);
    return read.success && read.data.pull_request === undefined && read.data.body?.includes(marker);
  });
  return marked.length === 0 ? undefined : checked(issue, { ...answer, data: marked[0] });
}

export async function createPullRequest(
  client: Client,
  at: RepositoryName,
  { maintainerCanModify, ...fields }: NewPullRequest,
): Promise<PullRequest | 'exists' | 'unanswered' | undefined> {
  const route = 'POST /repos/{owner}/{repo}/pulls';
  const sent = { ...at, ...fields, maintainer_can_modify: maintainerCanModify };
  const answer = await once(client, route, sent, refusedPullRequest);
  switch (answer) {
    case 'missing':
      return undefined;
    case 'exists':
    case 'unanswered':
      return answer;
    case 'same':
      throw nothingToMerge(fields);
    case 'head':
    case 'base':
      throw noSuchBranch(answer, fields[answer]);
    default:
      return checked(pullRequest, answer);
  }
}

export async function findPullRequest(
  client: Client,
  at: RepositoryName,
  head: string,
  base: string,
): Promise<PullRequest | undefined> {
  const route = 'GET /repos/{owner}/{repo}/pulls';
  const answer = await find(client, route, { ...at, state: 'open', head, base, per_page: 1 });
  return answer && checked(z.array(pullRequest), answer)[0];
}

function refusedPullRequest({ status, text }: { status: number; text: string }) {
  if (status === 404) return 'missing';
  if (status !== 422) return undefined;
  if (/pull request already exists/i.test(text)) return 'exists';
  if (/no commits between/i.test(text)) return 'same';
  const [, field] = /"field":"(head|base)","code":"invalid"/.exec(text) ?? [];
  return field === 'head' || field === 'base' ? field : undefined;
}

function issuesAreOff(): MusterError {
  return new MusterError('CONFLICT', 'This repository has no issues: they are switched off.', {
    field: 'repo',
    reason: 'ISSUES_DISABLED',
    suggestion: 'Use another repository, or add a discovery or a task here.',
  });
}

function nothingToMerge({ head, base }: Pick<NewPullRequest, 'head' | 'base'>): MusterError {
  return new MusterError('CONFLICT', `"${head}" has no commits that "${base}" lacks.`, {
    field: 'head',
    reason: 'NO_COMMITS',
    suggestion: 'Commit something first, with github.commitFiles.',
  });
}

function noSuchBranch(field: 'head' | 'base', name: string): MusterError {
  return new MusterError('NOT_FOUND', `There is no branch "${name}".`, {
    field,
    reason: 'REF_NOT_FOUND',
    suggestion: 'Create it first, with github.createBranch.',
  });
}
