/** Ports of the toolset, including access to GitHub. */

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

/** A repository's name; toolsets/github/rules/names.ts validates callers' input. */
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

/** A file of a new tree: with its text, an existing blob, or undefined to delete it. */
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
  /** Owner to which the search is restricted, if any. */
  readonly owner?: string | undefined;
}

/** Route variables, and the query or the body. */
export interface RequestParameters {
  readonly [name: string]: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Classifies a rejection. `text` is GitHub's own, only for recognition and never for the caller. */
export type RecognizeRefusal<Word> = (refusal: { readonly status: number; readonly text: string }) => Word | undefined;

/**
 * Sends requests to GitHub with one credential. Routes are written as in GitHub's documentation:
 * `GET /repos/{owner}/{repo}`. All failures are MusterErrors.
 */
export interface GitHubClient {
  ask(route: string, parameters: RequestParameters): Promise<GitHubResponse>;
  /** @param missing statuses for which the result is undefined; default: 404 */
  find(route: string, parameters: RequestParameters, missing?: readonly number[]): Promise<GitHubResponse | undefined>;
  /** Returns at most the last `most` characters of a text that GitHub redirects to. Undefined if there is no text. */
  download(route: string, parameters: RequestParameters, most: number): Promise<string | undefined>;
  /**
   * Sends the request exactly once, because repeating a creation would create a duplicate. Returns the word of a
   * rejection that `recognize` classifies, or `unanswered` if GitHub may have carried out the request.
   */
  once<Word extends string>(
    route: string,
    parameters: RequestParameters,
    recognize: RecognizeRefusal<Word>,
  ): Promise<GitHubResponse | Word | 'unanswered'>;
}

export interface GitHubClients {
  /** Whether the deployment has an App or a token. */
  readonly configured: boolean;
  /** For reading. If the App is not installed on the repository, another installation can read public data. */
  reading(at: RepositoryName): Promise<GitHubClient>;
  /** @throws MusterError ACCESS_DENIED if the App is not installed on the repository; NOT_FOUND */
  writing(at: RepositoryName): Promise<GitHubClient>;
  /** For requests without a repository. @param owner whose installation is preferred */
  any(owner?: string): Promise<GitHubClient>;
  /**
   * Checks a repository for which GitHub returned 404, which it also returns for private ones. Undefined if the
   * repository certainly does not exist; with a token, if nothing indicates otherwise.
   */
  hiding(at: RepositoryName): Promise<Error | undefined>;
}

/** A GitHub result; undefined for a 404, which does not identify the missing part. */
type FoundValue<Schema extends z.ZodType> = Promise<z.output<Schema> | undefined>;

/** GitHub's REST API for repositories. Source: https://docs.github.com/rest */
export interface GitHub {
  readonly configured: boolean;
  /** Returns the remaining requests of the hour. This request is free. */
  rateLimit(): Promise<RateLimit>;
  /** @throws MusterError ACCESS_DENIED if its existence cannot be determined */
  repository(at: RepositoryName): FoundValue<typeof repository>;
  contents(at: RepositoryName, path: string, ref: string): FoundValue<typeof contents>;
  /** Returns a file's content in base64. */
  blob(at: RepositoryName, sha: string): FoundValue<typeof blob>;
  /** Returns the commit of a branch, a tag or a SHA. */
  commit(at: RepositoryName, ref: string): FoundValue<typeof commit>;
  searchCode(search: CodeSearch): Promise<z.output<typeof codeHits>>;
  workflowRuns(at: RepositoryName, query: WorkflowRunQuery): FoundValue<typeof workflowRuns>;
  /** Returns the failed jobs of a run's latest attempt, and whether there may be more. */
  failedJobs(at: RepositoryName, runId: number): Promise<FailedJobs | undefined>;
  /** Returns the end of a job's log, at most `most` characters. */
  jobLog(at: RepositoryName, jobId: number, most: number): Promise<string | undefined>;
  /** Like all that create or move: `unanswered` if it is unknown whether GitHub carried it out. */
  createIssue(at: RepositoryName, fields: NewIssue): Promise<Issue | 'unanswered'>;
  /** Returns the newest issue since then whose text contains the marker. */
  findIssue(at: RepositoryName, marker: string, since: Date): FoundValue<typeof issue>;
  /** `exists` if an open one already exists. */
  createPullRequest(at: RepositoryName, fields: NewPullRequest): Promise<PullRequest | 'exists' | 'unanswered'>;
  /** Returns the open pull request from `owner:branch` into a branch. */
  findPullRequest(at: RepositoryName, head: string, base: string): FoundValue<typeof pullRequest>;
  /** Returns the head commit of a branch. */
  branch(at: RepositoryName, name: string): FoundValue<typeof reference>;
  createBranch(at: RepositoryName, name: string, sha: string): Promise<'created' | 'exists' | 'unanswered'>;
  /** Never forces: `stale` if the branch has moved since. */
  moveBranch(at: RepositoryName, name: string, sha: string): Promise<'moved' | 'stale' | 'unanswered'>;
  /** Returns a tree with everything below, as far as GitHub lists it in one response; or only one level. */
  tree(at: RepositoryName, sha: string, depth: 'whole' | 'level'): FoundValue<typeof tree>;
  createBlob(at: RepositoryName, base64: string): Promise<z.output<typeof created>>;
  createTree(at: RepositoryName, base: string, entries: readonly NewTreeEntry[]): Promise<z.output<typeof created>>;
  createCommit(
    at: RepositoryName,
    fields: { readonly message: string; readonly tree: string; readonly parent: string },
  ): Promise<z.output<typeof created>>;
  /** Returns a result that must exist according to GitHub. @throws MusterError if it was deleted */
  found<T>(at: RepositoryName, asked: Promise<T | undefined>): Promise<T>;
  /** Returns the error for a 404: repository not found, or else the given error. */
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
  /** Repositories that the deployment lists for its open workspaces. */
  readonly openRepositories: () => readonly string[];
}

export interface PullRequestLinkQueries {
  find(repositoryId: number, number: number): Promise<Versioned<PullRequestLink> | undefined>;
  findById(id: string): Promise<Versioned<PullRequestLink> | undefined>;
}

export type GitHubChange = ChangeOf<LinkChanges> | CoordinationChange;
