import type { CoordinationPorts } from '../../coordination/index.ts';
import type { PullRequestLinks } from './pullRequests.ts';

/**
 * What the domain asks of GitHub. The adapter implements it. Whatever GitHub answers has been checked and
 * bounded before it comes in here. `undefined` is GitHub's 404, which does not tell what is missing: who asked
 * looks again. All else that goes wrong is a MusterError of toolsets/github/rules/errors.ts.
 */

export interface Repository {
  /** Stays the same when the repository is renamed. */
  readonly id: number;
  readonly owner: string;
  readonly name: string;
  readonly defaultBranch: string;
  readonly stars: number;
}

export type Contents =
  /** `base64` is absent where the file is too large to come along: its blob has it. */
  | {
      readonly type: 'file';
      readonly path: string;
      readonly sha: string;
      readonly size: number;
      readonly base64?: string;
    }
  | { readonly type: 'symlink'; readonly path: string; readonly sha: string; readonly target: string }
  | { readonly type: 'submodule'; readonly path: string; readonly sha: string; readonly url?: string }
  | { readonly type: 'directory'; readonly entries: readonly string[] };

export interface Commit {
  readonly sha: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
}

export interface CodeHit {
  readonly at: RepositoryName;
  readonly description?: string;
  readonly path: string;
  /** The blob that was found. */
  readonly sha: string;
  readonly fragments: readonly Fragment[];
}

/** A part of a file, and where in it the matches are, in UTF-16 units. */
interface Fragment {
  readonly text: string;
  readonly matches: readonly { readonly start: number; readonly text: string }[];
}

export interface CodeSearch {
  readonly query: string;
  readonly sort: 'indexed' | 'best-match';
  readonly page: number;
  readonly perPage: number;
  /** In whose repositories, where only there. */
  readonly owner?: string;
}

export interface CodeHits {
  readonly total: number;
  /** GitHub's search ran out of time. */
  readonly incomplete: boolean;
  readonly hits: readonly CodeHit[];
}

export interface NewIssue {
  readonly title: string;
  readonly body?: string;
  readonly labels?: readonly string[];
  readonly assignees?: readonly string[];
  readonly milestone?: number;
}

export interface Issue {
  readonly number: number;
  readonly title: string;
  readonly state: string;
  readonly url?: string;
  readonly labels: readonly string[];
  readonly assignees: readonly string[];
  readonly createdAt: Date;
}

export interface NewPullRequest {
  readonly title: string;
  readonly body?: string;
  readonly head: string;
  readonly base: string;
  readonly draft: boolean;
  readonly maintainerCanModify: boolean;
}

export interface PullRequest {
  readonly number: number;
  /** The id of the repository that it is to be merged into. */
  readonly repositoryId: number;
  readonly title: string;
  readonly state: string;
  readonly draft: boolean;
  readonly url?: string;
  readonly head: string;
  readonly headSha: string;
  readonly base: string;
  readonly createdAt: Date;
}

export interface WorkflowRun {
  readonly id: number;
  readonly name: string;
  readonly title: string;
  readonly number: number;
  readonly attempt: number;
  readonly event: string;
  readonly status: string;
  readonly conclusion?: string;
  readonly branch?: string;
  readonly sha: string;
  readonly workflowId: number;
  readonly actor?: string;
  readonly url?: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface WorkflowRunQuery {
  readonly workflow?: string | number;
  readonly status?: string;
  readonly branch?: string;
  readonly page: number;
  readonly perPage: number;
}

export interface WorkflowRuns {
  readonly total: number;
  readonly runs: readonly WorkflowRun[];
}

export interface Job {
  readonly id: number;
  readonly name: string;
  readonly conclusion?: string;
  readonly url?: string;
  readonly startedAt?: Date;
  readonly completedAt?: Date;
  readonly failedSteps: readonly string[];
}

/** What Git knows a file as. */
export type FileKind = 'file' | 'executable' | 'symlink';

/** A file of a tree to be: with its text, or a blob that is there, or none where it is to be deleted. */
export interface TreeEntry {
  readonly path: string;
  readonly kind: FileKind;
  readonly content: { readonly text: string } | { readonly blob: string } | undefined;
}

/** What stands in a tree. */
export interface ListedEntry {
  /** From the tree that was listed. */
  readonly path: string;
  readonly kind: FileKind | 'submodule' | 'directory';
  readonly sha: string;
}

export interface TreeListing {
  readonly entries: readonly ListedEntry[];
  /** There are more than GitHub lists. */
  readonly truncated: boolean;
}

export interface RateLimit {
  readonly limit: number;
  readonly remaining: number;
  readonly reset: Date;
}

export interface GitHub {
  /** Whether the deployment names an App or a token. */
  readonly configured: boolean;
  /** What is left of the hour's requests. Asking costs none of them. */
  rateLimit(): Promise<RateLimit>;

  repository(at: RepositoryName): Promise<Repository | undefined>;
  contents(at: RepositoryName, path: string, ref: string): Promise<Contents | undefined>;
  /** A file's content in base64. */
  blob(at: RepositoryName, sha: string): Promise<string | undefined>;
  /** The commit of a branch, a tag or a SHA. */
  commit(at: RepositoryName, ref: string): Promise<Commit | undefined>;
  searchCode(search: CodeSearch): Promise<CodeHits>;

  /** Like all that create or move: `unanswered` where GitHub may have done it, and nobody knows. */
  createIssue(at: RepositoryName, issue: NewIssue): Promise<Issue | 'unanswered' | undefined>;
  /** The newest issue since then whose text holds the marker. */
  findIssue(at: RepositoryName, marker: string, since: Date): Promise<Issue | undefined>;

  /** `exists` where there is an open one already. */
  createPullRequest(
    at: RepositoryName,
    pullRequest: NewPullRequest,
  ): Promise<PullRequest | 'exists' | 'unanswered' | undefined>;
  /** The open one from `owner:branch` into a branch. */
  findPullRequest(at: RepositoryName, head: string, base: string): Promise<PullRequest | undefined>;

  workflowRuns(at: RepositoryName, query: WorkflowRunQuery): Promise<WorkflowRuns | undefined>;
  /** The failed jobs of a run's latest attempt. */
  failedJobs(at: RepositoryName, runId: number): Promise<readonly Job[] | undefined>;
  /** The end of a job's log: at most so many characters. */
  jobLog(at: RepositoryName, jobId: number, most: number): Promise<string | undefined>;

  /** The commit at the head of a branch. */
  branch(at: RepositoryName, name: string): Promise<string | undefined>;
  createBranch(
    at: RepositoryName,
    name: string,
    sha: string,
  ): Promise<'created' | 'exists' | 'unanswered' | undefined>;
  /** Never by force: `stale` where the branch has moved on since. */
  moveBranch(
    at: RepositoryName,
    name: string,
    sha: string,
  ): Promise<'moved' | 'stale' | 'unanswered' | undefined>;
  /** A tree with all below it, as far as GitHub lists that at once; or one level of it. */
  tree(at: RepositoryName, tree: string, depth: 'whole' | 'level'): Promise<TreeListing | undefined>;
  createBlob(at: RepositoryName, base64: string): Promise<string | undefined>;
  createTree(at: RepositoryName, base: string, entries: readonly TreeEntry[]): Promise<string | undefined>;
  createCommit(
    at: RepositoryName,
    commit: { readonly message: string; readonly tree: string; readonly parent: string },
  ): Promise<string | undefined>;
}

/** How a repository is named; toolsets/github/rules/names.ts checks what callers give. */
export interface RepositoryName {
  readonly owner: string;
  readonly repo: string;
}

// How GitHub is reached, and which task a pull request concerns.

export interface GitHubPorts extends CoordinationPorts {
  readonly gitHub: GitHub;
  readonly pullRequestLinks: PullRequestLinks;
}
