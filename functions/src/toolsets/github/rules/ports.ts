/** How GitHub is reached, and the ports of the feature. */

import type { Versioned } from '../../../kernel/commit.ts';
import type { PortOf } from '../../../kernel/ports.ts';
import type { CoordinationPorts } from '../../coordination/index.ts';
import type { RestGitHub } from '../store/gitHub.ts';
import type { FileKind, GitHubAnswer } from './answers.ts';
import type { PullRequestLink } from './link.ts';

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

export type GitHub = PortOf<RestGitHub>;

export interface GitHubPorts extends CoordinationPorts {
  readonly gitHub: GitHub;
  readonly pullRequestLinks: PullRequestLinkQueries;
  /** What the deployment lists for its open workspaces. */
  readonly openRepositories: () => readonly string[];
}

export interface PullRequestLinkQueries {
  find(repositoryId: number, number: number): Promise<Versioned<PullRequestLink> | undefined>;
  findById(id: string): Promise<Versioned<PullRequestLink> | undefined>;
}
