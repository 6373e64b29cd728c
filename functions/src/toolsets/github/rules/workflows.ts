/** Runs of GitHub Actions and what their failed jobs said. Source: the network specification, "github.getWorkflowRuns". */
import { byteLength, MAX_LISTED_BYTES } from '../../../kernel/json.ts';
import { withoutCodes } from '../../../kernel/text.ts';
import { refusal } from './gitHubErrors.ts';
import { refName } from './names.ts';
import type { GitHub, RepositoryName, WorkflowRunQuery } from './ports.ts';
import { plainText } from './text.ts';

/** Of so many failed jobs the logs are read; the others are named. */
const LOGS_READ = 5;

/** The end of a log that lines are taken from, in characters. */
const MAX_LOG_LENGTH = 400_000;

/** A workflow's file, without its folder. */
const WORKFLOW_FILE = /^[\w.-]{1,200}\.ya?ml$/;

export async function listRuns(gitHub: GitHub, at: RepositoryName, { workflow, ...query }: WorkflowRunQuery) {
  if (query.branch !== undefined) refName(query.branch, 'branch');
  const runs = await gitHub.workflowRuns(at, {
    ...query,
    workflow: workflow === undefined ? undefined : workflowName(workflow),
  });
  if (runs !== undefined) return runs;
  throw await gitHub.missing(at, refusal('NOT_FOUND', 'workflow', at));
}

/** A run's failed jobs, with the last lines of their logs. GitHub deletes a log after some time. */
export async function failedJobLogs(gitHub: GitHub, at: RepositoryName, runId: number, lines: number) {
  const failed = await gitHub.failedJobs(at, runId);
  if (failed === undefined) {
    throw await gitHub.missing(at, refusal('NOT_FOUND', 'workflowRun', at));
  }
  const jobs = await Promise.all(
    failed.jobs.map(async (job, index) => {
      const log = index < LOGS_READ ? await gitHub.jobLog(at, job.id, MAX_LOG_LENGTH) : undefined;
      if (log === undefined) return { ...job, lines: 0 };
      const tail = logTail(log, lines, MAX_LISTED_BYTES / LOGS_READ);
      return { ...job, log: tail.text, lines: tail.lines };
    }),
  );
  return { jobs, more: failed.more };
}

function workflowName(workflow: string | number): string | number {
  if (Number.isSafeInteger(Number(workflow)) && Number(workflow) > 0) return Number(workflow);
  if (typeof workflow === 'string' && WORKFLOW_FILE.test(workflow)) return workflow;
  throw refusal('INVALID_FORMAT', 'workflow');
}

/** What GitHub puts before each line. */
const TIMESTAMP = /^\ufeff?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z /;

const MAX_LINE_LENGTH = 2000;

/**
 * The last lines of a job's log, without timestamps and terminal codes.
 * @param mostBytes what they may take of an answer
 */
export function logTail(log: string, lines: number, mostBytes: number) {
  const all = log.replace(/\r\n?/g, '\n').replace(/\n+$/, '').split('\n').slice(-lines);
  const plain = all.map((line) => plainText(withoutCodes(line.replace(TIMESTAMP, '')), MAX_LINE_LENGTH));
  let bytes = 0;
  const tooFar = plain.findLastIndex((line) => {
    bytes += byteLength(line);
    return bytes > mostBytes;
  });
  const shown = plain.slice(tooFar + 1);
  return { text: shown.join('\n'), lines: shown.length };
}
