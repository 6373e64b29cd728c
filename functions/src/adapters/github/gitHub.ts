/** GitHub's REST API as the domain knows it. */

import type {
  CodeSearch,
  GitHub,
  NewIssue,
  NewPullRequest,
  Repository,
  TreeEntry,
  WorkflowRunQuery,
} from '../../domain/github/port.ts';
import type { RepositoryName } from '../../domain/github/repository.ts';
import { listFailedJobs, listRuns, readJobLog } from './actions.ts';
import { checked, repository } from './answers.ts';
import { find } from './asking.ts';
import type { GitHubClients } from './clients.ts';
import { listTree, readBlob, readContents, readRateLimit, searchCode } from './contents.ts';
import {
  createBlob,
  createBranch,
  createCommit,
  createTree,
  moveBranch,
  readBranch,
  readCommit,
} from './gitData.ts';
import { createIssue, createPullRequest, findIssue, findPullRequest } from './tracker.ts';

export class RestGitHub implements GitHub {
  private readonly clients: GitHubClients;

  constructor(clients: GitHubClients) {
    this.clients = clients;
  }

  get configured(): boolean {
    return this.clients.configured;
  }

  async rateLimit() {
    return readRateLimit(await this.clients.any());
  }

  /** @throws MusterError ACCESS_DENIED where nobody can tell whether it is there */
  async repository(at: RepositoryName): Promise<Repository | undefined> {
    const client = await this.clients.reading(at);
    const answer = await find(client, 'GET /repos/{owner}/{repo}', { ...at });
    if (answer !== undefined) return checked(repository, answer);
    const hiding = await this.clients.hiding(at);
    if (hiding !== undefined) throw hiding;
    return undefined;
  }

  async contents(at: RepositoryName, path: string, ref: string) {
    return readContents(await this.clients.reading(at), at, path, ref);
  }

  async blob(at: RepositoryName, sha: string) {
    return readBlob(await this.clients.reading(at), at, sha);
  }

  async commit(at: RepositoryName, ref: string) {
    return readCommit(await this.clients.reading(at), at, ref);
  }

  async searchCode(search: CodeSearch) {
    return searchCode(await this.clients.any(search.owner), search);
  }

  async workflowRuns(at: RepositoryName, query: WorkflowRunQuery) {
    return listRuns(await this.clients.reading(at), at, query);
  }

  async failedJobs(at: RepositoryName, runId: number) {
    return listFailedJobs(await this.clients.reading(at), at, runId);
  }

  async jobLog(at: RepositoryName, jobId: number, most: number) {
    return readJobLog(await this.clients.reading(at), at, jobId, most);
  }

  async createIssue(at: RepositoryName, issue: NewIssue) {
    return createIssue(await this.clients.writing(at), at, issue);
  }

  async findIssue(at: RepositoryName, marker: string, since: Date) {
    return findIssue(await this.clients.writing(at), at, marker, since);
  }

  async createPullRequest(at: RepositoryName, pullRequest: NewPullRequest) {
    return createPullRequest(await this.clients.writing(at), at, pullRequest);
  }

  async findPullRequest(at: RepositoryName, head: string, base: string) {
    return findPullRequest(await this.clients.writing(at), at, head, base);
  }

  async branch(at: RepositoryName, name: string) {
    return readBranch(await this.clients.writing(at), at, name);
  }

  async createBranch(at: RepositoryName, name: string, sha: string) {
    return createBranch(await this.clients.writing(at), at, name, sha);
  }

  async moveBranch(at: RepositoryName, name: string, sha: string) {
    return moveBranch(await this.clients.writing(at), at, name, sha);
  }

  async tree(at: RepositoryName, tree: string, depth: 'whole' | 'level') {
    return listTree(await this.clients.writing(at), at, tree, depth);
  }

  async createBlob(at: RepositoryName, base64: string) {
    return createBlob(await this.clients.writing(at), at, base64);
  }

  async createTree(at: RepositoryName, base: string, entries: readonly TreeEntry[]) {
    return createTree(await this.clients.writing(at), at, base, entries);
  }

  async createCommit(at: RepositoryName, commit: { message: string; tree: string; parent: string }) {
    return createCommit(await this.clients.writing(at), at, commit);
  }
}
