/** Ports of the github toolset, including GitHub's API. */

import type { z } from 'zod';
import type { ChangeOf, Store, Versioned } from '../../../kernel/commit.ts';
import type { MusterError } from '../../../kernel/errors.ts';
import type { CoordinationChange, CoordinationPorts } from '../../coordination/index.ts';
import type { LinkChanges, PullRequestLink } from './link.ts';
import type {
  blob,
  codeHits,
  commit,
  contents,
  created,
  FileKind,
  GitHubResponse,
  Issue,
  issue,
  jobs,
  PullRequest,
  pullRequest,
  RateLimit,
  reference,
  repository,
  tree,
  workflowRuns,
} from './responses.ts';

/** Owner and name of a repository. Input of callers is validated in toolsets/github/rules/names.ts. */
export type RepositoryName = { readonly owner: string; readonly repo: string };

export interface NewIssue {
  readonly title: string;
  readonly body?: string | undefined;
  readonly labels?: readonly string[] | undefined;
  readonly assignees?: readonly string[] | undefined;
  readonly milestone?: number | undefined;
}

export interface NewPullRequest {
  readonly title: string;
  readonly body?: string | undefined;
  readonly head: string;
  readonly base: string;
  readonly draft: boolean;
  readonly maintainer_can_modify: boolean;
}

/** A file for a new tree. Its content is a text or an existing blob; undefined deletes the file. */
export interface NewTreeEntry {
  readonly path: string;
  readonly kind: FileKind;
  readonly content: { readonly text: string } | { readonly blob: string } | undefined;
}

export interface WorkflowRunQuery {
  readonly workflow?: string | number | undefined;
  readonly status?: string | undefined;
  readonly branch?: string | undefined;
  readonly page: number;
  readonly perPage: number;
}

export interface CodeSearch {
  readonly query: string;
  readonly sort: 'indexed' | 'best-match';
  readonly page: number;
  readonly perPage: number;
  /** Owner whose repositories are searched; undefined if the search is not restricted to an owner. */
  readonly owner?: string | undefined;
}

/** Values for the variables of the route, for the query string, or for the body. */
export interface RequestParameters {
  readonly [name: string]: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Returns a word for a rejection, or undefined if it is unknown. `text` is GitHub's; callers must not see it. */
export type RecognizeRefusal<Word> = (refusal: { readonly status: number; readonly text: string }) => Word | undefined;

/**
 * Sends requests to GitHub with one credential. Routes are written as in GitHub's documentation, for example
 * `GET /repos/{owner}/{repo}`. All errors are MusterErrors.
 */
export interface GitHubClient {
  ask(route: string, parameters: RequestParameters): Promise<GitHubResponse>;
  /** @param missing HTTP statuses for which the result is undefined; default: only 404 */
  find(route: string, parameters: RequestParameters, missing?: readonly number[]): Promise<GitHubResponse | undefined>;
  /** Downloads a text by a redirect of GitHub. Returns its last `most` characters; undefined without a text. */
  download(route: string, parameters: RequestParameters, most: number): Promise<string | undefined>;
  /**
   * Sends the request only once, because a repetition could create a duplicate. Returns what `recognize` returns for
   * a rejection, or `unanswered` if GitHub may have carried out the request.
   */
  once<Word extends string>(
    route: string,
    parameters: RequestParameters,
    recognize: RecognizeRefusal<Word>,
  ): Promise<GitHubResponse | Word | 'unanswered'>;
}

export interface GitHubClients {
  /** Whether the deployment has a GitHub App or a token. */
  readonly configured: boolean;
  /** Returns a client for reading. If the App is not installed there, it can at least read public repositories. */
  reading(at: RepositoryName): Promise<GitHubClient>;
  /** @throws MusterError ACCESS_DENIED if the App is not installed on the repository; NOT_FOUND */
  writing(at: RepositoryName): Promise<GitHubClient>;
  /** Returns a client for requests that concern no repository. @param owner owner whose installation is preferred */
  any(owner?: string): Promise<GitHubClient>;
  /**
   * Called if GitHub returns 404 for a repository, as it does for private ones too. Returns the error to throw if the
   * repository may be private; undefined if it does not exist or, with a token, if nothing shows that it does.
   */
  hiding(at: RepositoryName): Promise<Error | undefined>;
}

/** A result of GitHub. Undefined means a 404, which does not show what exactly is missing. */
type FoundValue<Schema extends z.ZodType> = Promise<z.output<Schema> | undefined>;

/** GitHub's REST API for repositories. Source: https://docs.github.com/rest */
export interface GitHub {
  readonly configured: boolean;
  /** Returns how many requests are left in this hour. This request itself does not count. */
  rateLimit(): Promise<RateLimit>;
  /** @throws MusterError ACCESS_DENIED if it cannot be known whether the repository exists */
  repository(at: RepositoryName): FoundValue<typeof repository>;
  contents(at: RepositoryName, path: string, ref: string): FoundValue<typeof contents>;
  /** Returns the content of a file as base64 text. */
  blob(at: RepositoryName, sha: string): FoundValue<typeof blob>;
  /** Returns the commit of a branch, tag or SHA. */
  commit(at: RepositoryName, ref: string): FoundValue<typeof commit>;
  searchCode(search: CodeSearch): Promise<z.output<typeof codeHits>>;
  workflowRuns(at: RepositoryName, query: WorkflowRunQuery): FoundValue<typeof workflowRuns>;
  /** Returns the failed jobs of the run's latest attempt, and whether there may be more jobs. */
  failedJobs(at: RepositoryName, runId: number): Promise<FailedJobs | undefined>;
  /** Returns the last `most` characters of a job's log. */
  jobLog(at: RepositoryName, jobId: number, most: number): Promise<string | undefined>;
  /** Returns `unanswered`, like all methods that create or move, if GitHub may have carried out the request. */
  createIssue(at: RepositoryName, fields: NewIssue): Promise<Issue | 'unanswered'>;
  /** Returns the newest issue that was created at or after `since` and whose text contains the marker. */
  findIssue(at: RepositoryName, marker: string, since: Date): FoundValue<typeof issue>;
  /** Returns `exists` if there is already an open pull request for these branches. */
  createPullRequest(at: RepositoryName, fields: NewPullRequest): Promise<PullRequest | 'exists' | 'unanswered'>;
  /** Returns the open pull request from the head `owner:branch` into the branch `base`. */
  findPullRequest(at: RepositoryName, head: string, base: string): FoundValue<typeof pullRequest>;
  /** Returns the commit at which a branch is. */
  branch(at: RepositoryName, name: string): FoundValue<typeof reference>;
  createBranch(at: RepositoryName, name: string, sha: string): Promise<'created' | 'exists' | 'unanswered'>;
  /** Moves a branch without force. Returns `stale` if the branch was moved by another commit. */
  moveBranch(at: RepositoryName, name: string, sha: string): Promise<'moved' | 'stale' | 'unanswered'>;
  /** Returns a tree: `whole` with all levels, which GitHub may shorten, or only the first `level`. */
  tree(at: RepositoryName, sha: string, depth: 'whole' | 'level'): FoundValue<typeof tree>;
  createBlob(at: RepositoryName, base64: string): Promise<z.output<typeof created>>;
  createTree(at: RepositoryName, base: string, entries: readonly NewTreeEntry[]): Promise<z.output<typeof created>>;
  createCommit(
    at: RepositoryName,
    fields: { readonly message: string; readonly tree: string; readonly parent: string },
  ): Promise<z.output<typeof created>>;
  /** Returns a result that GitHub has just referred to. @throws MusterError if it was deleted in the meantime */
  found<T>(at: RepositoryName, asked: Promise<T | undefined>): Promise<T>;
  /** Returns the error after a 404: that the repository does not exist, or else `otherwise`. */
  missing(at: RepositoryName, otherwise: MusterError): Promise<MusterError>;
}

interface FailedJobs {
  readonly jobs: z.output<typeof jobs>['jobs'];
  readonly more: boolean;
}

export interface GitHubPorts extends CoordinationPorts {
  readonly store: Store<GitHubChange>;
  readonly gitHub: GitHub;
  readonly pullRequestLinks: PullRequestLinkQueries;
  /** Repositories that members of open workspaces can use, according to the deployment's configuration. */
  readonly openRepositories: () => readonly string[];
}

export interface PullRequestLinkQueries {
  find(repositoryId: number, number: number): Promise<Versioned<PullRequestLink> | undefined>;
  findById(id: string): Promise<Versioned<PullRequestLink> | undefined>;
}

export type GitHubChange = ChangeOf<LinkChanges> | CoordinationChange;
