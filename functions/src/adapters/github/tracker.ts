/** Issues and pull requests. Source: https://docs.github.com/rest/issues, https://docs.github.com/rest/pulls */
import { z } from 'zod';
import { MusterError } from '../../domain/errors.ts';
import type { Issue, NewIssue, NewPullRequest, PullRequest } from '../../domain/github/port.ts';
import type { RepositoryName } from '../../domain/github/repository.ts';
import { checked, issue, pullRequest } from './answers.ts';
import { find, once, unless } from './asking.ts';
import type { Client } from './request.ts';

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
