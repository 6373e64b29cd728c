/** GitHub's REST API as the domain knows it. */

import { z } from 'zod';
import { MusterError } from '../../kernel/errors.ts';
import type {
  CodeSearch,
  Commit,
  GitHub,
  NewIssue,
  NewPullRequest,
  Repository,
  RepositoryName,
  TreeEntry,
  WorkflowRunQuery,
} from '../../toolsets/github/index.ts';
import {
  createIssue,
  createPullRequest,
  findIssue,
  findPullRequest,
  listFailedJobs,
  listRuns,
  readJobLog,
} from './actions.ts';
import { checked, commit, repository, sha } from './answers.ts';
import { type Client, find, once, unless } from './asking.ts';
import type { GitHubClients } from './clients.ts';
import { listTree, readBlob, readContents, readRateLimit, searchCode } from './contents.ts';

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

// Branches, and commits made of blobs and trees. Source: https://docs.github.com/rest/git

const created = z.object({ sha });

const reference = z.object({ object: z.object({ sha }) });

async function readCommit(client: Client, at: RepositoryName, ref: string): Promise<Commit | undefined> {
  // One of the files that it changed is still too many, but GitHub gives no fewer.
  const parameters = { ...at, ref, per_page: 1 };
  const answer = await unless(client, 'GET /repos/{owner}/{repo}/commits/{ref}', parameters, ({ status }) =>
    // 409: an empty repository; 422: no commit of that name.
    [404, 409, 422].includes(status) ? 'missing' : undefined,
  );
  return answer === 'missing' ? undefined : checked(commit, answer);
}

async function readBranch(client: Client, at: RepositoryName, name: string): Promise<string | undefined> {
  const route = 'GET /repos/{owner}/{repo}/git/ref/{ref}';
  const answer = await unless(client, route, { ...at, ref: `heads/${name}` }, ({ status }) =>
    status === 404 || status === 409 ? 'missing' : undefined,
  );
  return answer === 'missing' ? undefined : checked(reference, answer).object.sha;
}

async function createBranch(
  client: Client,
  at: RepositoryName,
  name: string,
  target: string,
): Promise<'created' | 'exists' | 'unanswered' | undefined> {
  const parameters = { ...at, ref: `refs/heads/${name}`, sha: target };
  const answer = await once(client, 'POST /repos/{owner}/{repo}/git/refs', parameters, ({ status, text }) => {
    if (status === 404) return 'missing';
    return status === 422 && /already exists/i.test(text) ? 'exists' : undefined;
  });
  if (answer === 'missing') return undefined;
  return typeof answer === 'string' ? answer : 'created';
}

async function moveBranch(
  client: Client,
  at: RepositoryName,
  name: string,
  target: string,
): Promise<'moved' | 'stale' | 'unanswered' | undefined> {
  const parameters = { ...at, ref: `heads/${name}`, sha: target, force: false };
  const route = 'PATCH /repos/{owner}/{repo}/git/refs/{ref}';
  const answer = await once(client, route, parameters, ({ status, text }) => {
    if (status === 404 || (status === 422 && /does not exist/i.test(text))) return 'missing';
    if (status === 422 && /fast.forward/i.test(text)) return 'stale';
    return /protected branch|rule violations/i.test(text) ? 'protected' : undefined;
  });
  if (answer === 'protected') throw isProtected(name);
  if (answer === 'missing') return undefined;
  return typeof answer === 'string' ? answer : 'moved';
}

async function createBlob(client: Client, at: RepositoryName, base64: string): Promise<string | undefined> {
  const parameters = { ...at, content: base64, encoding: 'base64' };
  const answer = await find(client, 'POST /repos/{owner}/{repo}/git/blobs', parameters);
  return answer && checked(created, answer).sha;
}

async function createTree(
  client: Client,
  at: RepositoryName,
  base: string,
  entries: readonly TreeEntry[],
): Promise<string | undefined> {
  const parameters = { ...at, base_tree: base, tree: entries.map(treeEntry) };
  const answer = await find(client, 'POST /repos/{owner}/{repo}/git/trees', parameters);
  return answer && checked(created, answer).sha;
}

async function createCommit(
  client: Client,
  at: RepositoryName,
  { message, tree, parent }: { readonly message: string; readonly tree: string; readonly parent: string },
): Promise<string | undefined> {
  const parameters = { ...at, message, tree, parents: [parent] };
  const answer = await find(client, 'POST /repos/{owner}/{repo}/git/commits', parameters);
  return answer && checked(created, answer).sha;
}

const MODES = { file: '100644', executable: '100755', symlink: '120000' } as const;

function treeEntry({ path, kind, content }: TreeEntry) {
  const entry = { path, mode: MODES[kind], type: 'blob' };
  if (content === undefined) return { ...entry, sha: null };
  return 'text' in content ? { ...entry, content: content.text } : { ...entry, sha: content.blob };
}

function isProtected(branch: string): MusterError {
  return new MusterError('FORBIDDEN', `Branch "${branch}" is protected.`, {
    field: 'branch',
    reason: 'PROTECTED_BRANCH',
    suggestion: 'Nothing was committed. Commit to a branch of your own and open a pull request.',
  });
}
