/** Ports of the github toolset, including GitHub's API. */
import type { z } from 'zod';
import type { ChangeOf, Store } from '../../../kernel/commit.ts';
import type { MusterError } from '../../../kernel/errors.ts';
import type { CoordinationChange, CoordinationPorts } from '../../coordination/index.ts';
import type { LinkChanges, PullRequestLinkQueries } from './link.ts';
import type * as responses from './responses.ts';

/** Owner and name of a repository. Names from callers are validated in toolsets/github/rules/names.ts. */
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

/** A file for a new tree. Its content is a text or an existing blob; undefined content deletes the file. */
export interface NewTreeEntry {
  readonly path: string;
  readonly kind: responses.FileKind;
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
  /** Owner whose repositories are searched; undefined if the search is not limited to one owner. */
  readonly owner?: string | undefined;
}

/** Values for the variables of the route, for the query string, or for the request body. */
export interface RequestParameters {
  readonly [name: string]: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Returns a word for a known rejection. `text` is GitHub's error text, which callers must not see. */
export type RecognizeRefusal<Word> = (refusal: { readonly status: number; readonly text: string }) => Word | undefined;

/**
 * Sends requests to GitHub with one credential. Routes are written as in GitHub's documentation, for example
 * `GET /repos/{owner}/{repo}`. All errors are MusterErrors.
 */
export interface GitHubClient {
  ask(route: string, parameters: RequestParameters): Promise<responses.GitHubResponse>;
  /** @param missing HTTP statuses for which the result is undefined; default: only 404 */
  find(
    route: string,
    parameters: RequestParameters,
    missing?: readonly number[],
  ): Promise<responses.GitHubResponse | undefined>;
  /** Downloads a text to which GitHub redirects. Returns its last `max` characters, or undefined without a text. */
  download(route: string, parameters: RequestParameters, max: number): Promise<string | undefined>;
  /**
   * Sends the request only once, because a second request could create a duplicate. Returns the word of `recognize`
   * for a rejection, or `unanswered` if GitHub did not respond and may have carried out the request.
   */
  once<Word extends string>(
    route: string,
    parameters: RequestParameters,
    recognize: RecognizeRefusal<Word>,
  ): Promise<responses.GitHubResponse | Word | 'unanswered'>;
}

export interface GitHubClients {
  /** Whether the deployment has a GitHub App or a GitHub token. */
  readonly configured: boolean;
  /** Returns a client for reading. Without an installed App, the client can read only public repositories. */
  reading(at: RepositoryName): Promise<GitHubClient>;
  /** @throws MusterError ACCESS_DENIED if the App is not installed on the repository; NOT_FOUND if it is missing */
  writing(at: RepositoryName): Promise<GitHubClient>;
  /** Returns a client for requests without a repository. @param owner owner whose App installation is preferred */
  any(owner?: string): Promise<GitHubClient>;
  /**
   * Called if GitHub returns 404 for a repository. Returns the error to throw if the repository may be private;
   * undefined if it does not exist or, with a GitHub token, if nothing shows that it exists.
   */
  hiding(at: RepositoryName): Promise<Error | undefined>;
}

/** A result of GitHub. Undefined means that GitHub returned 404, which does not show which part was not found. */
type FoundValue<Schema extends z.ZodType> = Promise<z.output<Schema> | undefined>;

/** GitHub's REST API for repositories. Source: https://docs.github.com/rest */
export interface GitHub {
  readonly configured: boolean;
  /** Returns the number of requests that are left in this hour. This request itself does not count. */
  rateLimit(): Promise<responses.RateLimit>;
  /** @throws MusterError ACCESS_DENIED if the repository may be private, so that nothing shows whether it exists */
  repository(at: RepositoryName): FoundValue<typeof responses.repository>;
  contents(at: RepositoryName, path: string, ref: string): FoundValue<typeof responses.contents>;
  blob(at: RepositoryName, sha: string): FoundValue<typeof responses.blob>;
  commit(at: RepositoryName, ref: string): FoundValue<typeof responses.commit>;
  searchCode(search: CodeSearch): Promise<z.output<typeof responses.codeHits>>;
  workflowRuns(at: RepositoryName, query: WorkflowRunQuery): FoundValue<typeof responses.workflowRuns>;
  /** Returns the failed jobs of the run's latest attempt, and whether there may be more jobs. */
  failedJobs(
    at: RepositoryName,
    runId: number,
  ): Promise<{ readonly jobs: z.output<typeof responses.jobs>['jobs']; readonly more: boolean } | undefined>;
  jobLog(at: RepositoryName, jobId: number, max: number): Promise<string | undefined>;
  /** Like all writes, returns `unanswered` if GitHub did not respond and may have carried out the request. */
  createIssue(at: RepositoryName, fields: NewIssue): Promise<responses.Issue | 'unanswered'>;
  /** Returns the newest issue that was created at or after `since` and whose text contains the marker. */
  findIssue(at: RepositoryName, marker: string, since: Date): FoundValue<typeof responses.issue>;
  /** Returns `exists` if an open pull request already has these branches. */
  createPullRequest(
    at: RepositoryName,
    fields: NewPullRequest,
  ): Promise<responses.PullRequest | 'exists' | 'unanswered'>;
  findPullRequest(at: RepositoryName, head: string, base: string): FoundValue<typeof responses.pullRequest>;
  branch(at: RepositoryName, name: string): FoundValue<typeof responses.reference>;
  createBranch(at: RepositoryName, name: string, sha: string): Promise<'created' | 'exists' | 'unanswered'>;
  /** Moves a branch without force. Returns `stale` if another commit has moved the branch. */
  moveBranch(at: RepositoryName, name: string, sha: string): Promise<'moved' | 'stale' | 'unanswered'>;
  /** Returns a tree: with `whole` all levels, of which GitHub may omit entries; with `level` only the first level. */
  tree(at: RepositoryName, sha: string, depth: 'whole' | 'level'): FoundValue<typeof responses.tree>;
  createBlob(at: RepositoryName, base64: string): Promise<string>;
  createTree(at: RepositoryName, base: string, entries: readonly NewTreeEntry[]): Promise<string>;
  createCommit(
    at: RepositoryName,
    fields: { readonly message: string; readonly tree: string; readonly parent: string },
  ): Promise<string>;
  /** Returns an object that GitHub has just referred to. @throws MusterError if it was deleted in the meantime */
  found<T>(at: RepositoryName, asked: Promise<T | undefined>): Promise<T>;
  /** Returns the error for a 404: an error for a missing repository or, if the repository exists, `otherwise`. */
  missing(at: RepositoryName, otherwise: MusterError): Promise<MusterError>;
}

export interface GitHubPorts extends CoordinationPorts {
  readonly store: Store<GitHubChange>;
  readonly gitHub: GitHub;
  readonly pullRequestLinks: PullRequestLinkQueries;
  /** Repositories that members of open workspaces can use, according to the deployment's configuration. */
  readonly openRepositories: () => readonly string[];
}

export type GitHubChange = ChangeOf<LinkChanges> | CoordinationChange;
