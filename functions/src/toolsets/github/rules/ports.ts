/** How GitHub is reached, and the ports of the feature. */

import type { z } from 'zod';
import type { ChangeOf, Store, Versioned } from '../../../kernel/commit.ts';
import type { MusterError } from '../../../kernel/errors.ts';
import type { CoordinationChange, CoordinationPorts } from '../../coordination/index.ts';
import type {
  blob,
  codeHits,
  commit,
  contents,
  created,
  FileKind,
  GitHubAnswer,
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
} from './answers.ts';
import type { LinkChanges, PullRequestLink } from './link.ts';

/** How a repository is named; toolsets/github/rules/names.ts checks what callers give. */
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

/** A file of a tree to be: with its text, or a blob that is there, or none where it is to be deleted. */
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
  /** In whose repositories, where only there. */
  readonly owner?: string | undefined;
}

/** The variables of a route, and beside them the query or the body. */
export interface RequestParameters {
  readonly [name: string]: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Names what a refusal means. `text` is GitHub's own: it is for recognising, and never for the caller. */
export type RecogniseRefusal<Word> = (refusal: {
  readonly status: number;
  readonly text: string;
}) => Word | undefined;

/**
 * Sends requests to GitHub with one credential. A route is written as in GitHub's documentation:
 * `GET /repos/{owner}/{repo}`. All that goes wrong is a MusterError.
 */
export interface GitHubClient {
  ask(route: string, parameters: RequestParameters): Promise<GitHubAnswer>;
  /** @param missing the statuses that are answered with undefined; 404 where they are left out */
  find(
    route: string,
    parameters: RequestParameters,
    missing?: readonly number[],
  ): Promise<GitHubAnswer | undefined>;
  /** The last characters, at most so many, of a text that GitHub keeps elsewhere. Undefined where there is none. */
  download(route: string, parameters: RequestParameters, most: number): Promise<string | undefined>;
  /**
   * Sends the request once: what creates something would create it twice. A refusal that `recognise` knows is answered
   * with its word, and `unanswered` says that GitHub may have done it all the same.
   */
  once<Word extends string>(
    route: string,
    parameters: RequestParameters,
    recognise: RecogniseRefusal<Word>,
  ): Promise<GitHubAnswer | Word | 'unanswered'>;
}

export interface GitHubClients {
  /** Whether the deployment names an App or a token. */
  readonly configured: boolean;
  /** For reading: where the App is not installed at the repository, another installation sees what is public. */
  reading(at: RepositoryName): Promise<GitHubClient>;
  /** @throws MusterError ACCESS_DENIED where the App is not installed at the repository; NOT_FOUND */
  writing(at: RepositoryName): Promise<GitHubClient>;
  /** For what belongs to no repository. @param owner whose installation is preferred */
  any(owner?: string): Promise<GitHubClient>;
  /**
   * Looks again at a repository that GitHub says is not there: it says the same of private ones. Undefined where it
   * is certain that there is none; with a token, where nothing speaks against it.
   */
  hiding(at: RepositoryName): Promise<Error | undefined>;
}

/** What GitHub answers about: undefined is its 404, which does not say what is missing. */
type Found<Schema extends z.ZodType> = Promise<z.output<Schema> | undefined>;

/** Repositories as GitHub's REST API has them. Source: https://docs.github.com/rest */
export interface GitHub {
  readonly configured: boolean;
  /** What is left of the hour's requests. Asking costs none of them. */
  rateLimit(): Promise<RateLimit>;
  /** @throws MusterError ACCESS_DENIED if nobody can tell whether it is there */
  repository(at: RepositoryName): Found<typeof repository>;
  contents(at: RepositoryName, path: string, ref: string): Found<typeof contents>;
  /** A file's content in base64. */
  blob(at: RepositoryName, sha: string): Found<typeof blob>;
  /** The commit of a branch, a tag or a SHA. */
  commit(at: RepositoryName, ref: string): Found<typeof commit>;
  searchCode(search: CodeSearch): Promise<z.output<typeof codeHits>>;
  workflowRuns(at: RepositoryName, query: WorkflowRunQuery): Found<typeof workflowRuns>;
  /** The failed jobs of a run's latest attempt, and whether there may be more of them. */
  failedJobs(at: RepositoryName, runId: number): Promise<FailedJobs | undefined>;
  /** The end of a job's log: at most so many characters. */
  jobLog(at: RepositoryName, jobId: number, most: number): Promise<string | undefined>;
  /** Like all that create or move: `unanswered` if GitHub may have done it, and nobody knows. */
  createIssue(at: RepositoryName, fields: NewIssue): Promise<Issue | 'unanswered'>;
  /** The newest issue since then whose text holds the marker. */
  findIssue(at: RepositoryName, marker: string, since: Date): Found<typeof issue>;
  /** `exists` if there is an open one already. */
  createPullRequest(
    at: RepositoryName,
    fields: NewPullRequest,
  ): Promise<PullRequest | 'exists' | 'unanswered'>;
  /** The open one from `owner:branch` into a branch. */
  findPullRequest(at: RepositoryName, head: string, base: string): Found<typeof pullRequest>;
  /** The commit at the head of a branch. */
  branch(at: RepositoryName, name: string): Found<typeof reference>;
  createBranch(at: RepositoryName, name: string, sha: string): Promise<'created' | 'exists' | 'unanswered'>;
  /** Never by force: `stale` if the branch has moved on since. */
  moveBranch(at: RepositoryName, name: string, sha: string): Promise<'moved' | 'stale' | 'unanswered'>;
  /** A tree with all below it, as far as GitHub lists that at once; or one level of it. */
  tree(at: RepositoryName, sha: string, depth: 'whole' | 'level'): Found<typeof tree>;
  createBlob(at: RepositoryName, base64: string): Promise<z.output<typeof created>>;
  createTree(
    at: RepositoryName,
    base: string,
    entries: readonly NewTreeEntry[],
  ): Promise<z.output<typeof created>>;
  createCommit(
    at: RepositoryName,
    fields: { readonly message: string; readonly tree: string; readonly parent: string },
  ): Promise<z.output<typeof created>>;
  /** What GitHub itself has said to be there. @throws MusterError if it is gone */
  found<T>(at: RepositoryName, asked: Promise<T | undefined>): Promise<T>;
  /** What GitHub's 404 means: there is no such repository, or else what the caller says. */
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
  /** What the deployment lists for its open workspaces. */
  readonly openRepositories: () => readonly string[];
}

export interface PullRequestLinkQueries {
  find(repositoryId: number, number: number): Promise<Versioned<PullRequestLink> | undefined>;
  findById(id: string): Promise<Versioned<PullRequestLink> | undefined>;
}

export type GitHubChange = ChangeOf<LinkChanges> | CoordinationChange;
