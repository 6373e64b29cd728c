/** Calls GitHub's REST API. A result is undefined if GitHub returned 404. Source: https://docs.github.com/rest */
import { z } from 'zod';
import type { MusterError } from '../../../kernel/errors.ts';
import { Service } from '../../../kernel/ports.ts';
import type {
  CodeSearch,
  GitHub,
  GitHubClients,
  NewIssue,
  NewPullRequest,
  NewTreeEntry,
  RecognizeRefusal,
  RepositoryName,
  RequestParameters,
  WorkflowRunQuery,
} from '../rules/ports.ts';
import * as responses from '../rules/responses.ts';

const IN_REPOSITORY = '/repos/{owner}/{repo}';
const TEXT_MATCHES = { accept: 'application/vnd.github.text-match+json' };

/** GitHub's maximum page size, and the maximum number of pages to read from a list that must be filtered. */
const PAGE = 100;
const MAX_PAGES = 10;
const MAX_FAILED_JOBS = 20;
const listedIssue = z.object({ body: z.string().nullish(), pull_request: z.unknown().optional() });

interface GitHubRequest {
  readonly path: string;
  readonly parameters?: RequestParameters | undefined;
  readonly missing?: readonly number[];
}

const MODES = { file: '100644', executable: '100755', symlink: '120000' } as const;

export class RestGitHub extends Service<GitHubClients> implements GitHub {
  get configured(): boolean {
    return this.ports.configured;
  }

  async rateLimit() {
    const client = await this.ports.any();
    return responses.checkedResponse(responses.rateLimit, await client.ask('GET /rate_limit', {}));
  }

  async repository(at: RepositoryName) {
    const found = await this.read('reading', responses.repository, at, { path: '' });
    const hiding = found === undefined ? await this.ports.hiding(at) : undefined;
    if (hiding !== undefined) throw hiding;
    return found;
  }

  contents(at: RepositoryName, path: string, ref: string) {
    return this.read('reading', responses.contents, at, { path: '/contents/{path}', parameters: { path, ref } });
  }

  blob(at: RepositoryName, sha: string) {
    return this.read('reading', responses.blob, at, { path: '/git/blobs/{file_sha}', parameters: { file_sha: sha } });
  }

  commit(at: RepositoryName, ref: string) {
    // GitHub returns `per_page` changed files with the commit; the minimum is 1.
    const parameters = { ref, per_page: 1 };
    // GitHub returns 409 for an empty repository, and 422 for an unknown commit.
    return this.read('reading', responses.commit, at, { path: '/commits/{ref}', parameters, missing: [404, 409, 422] });
  }

  async searchCode({ query, sort, page, perPage, owner }: CodeSearch) {
    const client = await this.ports.any(owner);
    const best = sort === 'indexed' ? sort : undefined;
    const parameters = { q: query, sort: best, page, per_page: perPage, headers: TEXT_MATCHES };
    return responses.checkedResponse(responses.codeHits, await client.ask('GET /search/code', parameters));
  }

  workflowRuns(at: RepositoryName, { workflow, perPage, ...filters }: WorkflowRunQuery) {
    const path = `/actions/${workflow === undefined ? '' : 'workflows/{workflow_id}/'}runs`;
    const parameters = { ...filters, workflow_id: workflow, per_page: perPage };
    return this.read('reading', responses.workflowRuns, at, { path, parameters });
  }

  async failedJobs(at: RepositoryName, runId: number) {
    const failed: z.output<typeof responses.jobs>['jobs'] = [];
    for (let page = 1, read = 0; ; page++) {
      const parameters = { run_id: runId, filter: 'latest', per_page: PAGE, page };
      const found = await this.read('reading', responses.jobs, at, { path: '/actions/runs/{run_id}/jobs', parameters });
      if (found === undefined) return undefined;
      failed.push(...found.jobs.filter(({ conclusion }) => responses.FAILED_CONCLUSIONS.includes(conclusion)));
      read += found.jobs.length;
      const isWhole = found.jobs.length === 0 || read >= found.total;
      if (!isWhole && page < MAX_PAGES && failed.length < MAX_FAILED_JOBS) continue;
      return { jobs: failed.slice(0, MAX_FAILED_JOBS), more: !isWhole || failed.length > MAX_FAILED_JOBS };
    }
  }

  async jobLog(at: RepositoryName, jobId: number, max: number): Promise<string | undefined> {
    const client = await this.ports.reading(at);
    const route = `GET ${IN_REPOSITORY}/actions/jobs/{job_id}/logs`;
    return client.download(route, { ...at, job_id: jobId }, max);
  }

  async createIssue(at: RepositoryName, fields: NewIssue) {
    const recognize: RecognizeRefusal<'off'> = ({ status }) => (status === 410 ? 'off' : undefined);
    const answer = await this.write(at, { method: 'POST', path: '/issues' }, fields, recognize);
    if (answer === 'off') throw responses.refusal('CONFLICT', 'issuesAreOff');
    return answer === 'unanswered' ? answer : responses.checkedResponse(responses.issue, answer);
  }

  async findIssue(at: RepositoryName, marker: string, since: Date) {
    const client = await this.ports.writing(at);
    const order = { state: 'all', sort: 'created', direction: 'desc', since: since.toISOString() };
    for (let page = 1; page <= MAX_PAGES; page++) {
      const parameters = { ...at, ...order, per_page: PAGE, ...(page > 1 && { page }) };
      // GitHub returns 410 if issues are disabled.
      const answer = await client.find(`GET ${IN_REPOSITORY}/issues`, parameters, [404, 410]);
      const listed = answer && responses.checkedResponse(z.array(z.unknown()), answer);
      const marked = listed?.find((one) => {
        const { data } = listedIssue.safeParse(one);
        return data?.pull_request === undefined && data?.body?.includes(marker);
      });
      if (answer && marked !== undefined)
        return responses.checkedResponse(responses.issue, { ...answer, data: marked });
      if ((listed?.length ?? 0) < PAGE) return undefined;
    }
    return undefined;
  }

  async createPullRequest(at: RepositoryName, fields: NewPullRequest) {
    const answer = await this.write(at, { method: 'POST', path: '/pulls' }, fields, refusedPullRequest);
    if (answer === 'exists' || answer === 'unanswered') return answer;
    if (answer === 'same')
      throw responses.refusal('CONFLICT', 'nothingToMerge', { head: fields.head, base: fields.base });
    if (answer === 'head' || answer === 'base')
      throw responses.refusal('NOT_FOUND', 'branch', { branch: fields[answer], field: answer });
    return responses.checkedResponse(responses.pullRequest, answer);
  }

  async findPullRequest(at: RepositoryName, head: string, base: string) {
    const parameters = { state: 'open', head, base, per_page: 1 };
    return (await this.read('writing', z.array(responses.pullRequest), at, { path: '/pulls', parameters }))?.[0];
  }

  branch(at: RepositoryName, name: string) {
    return this.read('writing', responses.reference, at, {
      path: '/git/ref/{ref}',
      parameters: { ref: `heads/${name}` },
      missing: [404, 409],
    });
  }

  async createBranch(at: RepositoryName, name: string, sha: string) {
    const parameters = { ref: `refs/heads/${name}`, sha };
    const answer = await this.write(at, { method: 'POST', path: '/git/refs' }, parameters, ({ status, text }) =>
      status === 422 && /already exists/i.test(text) ? 'exists' : undefined,
    );
    return typeof answer === 'string' ? answer : 'created';
  }

  async moveBranch(at: RepositoryName, name: string, sha: string) {
    const parameters = { ref: `heads/${name}`, sha, force: false };
    const answer = await this.write(
      at,
      { method: 'PATCH', path: '/git/refs/{ref}' },
      parameters,
      ({ status, text }) => {
        if (status === 422 && /does not exist/i.test(text)) return 'missing';
        if (status === 422 && /fast.forward/i.test(text)) return 'stale';
        return /protected branch|rule violations/i.test(text) ? 'protected' : undefined;
      },
    );
    if (answer === 'protected') throw responses.refusal('FORBIDDEN', 'protectedBranch', { branch: name });
    if (answer === 'missing') throw await this.unwritable(at);
    return typeof answer === 'string' ? answer : 'moved';
  }

  tree(at: RepositoryName, sha: string, depth: 'whole' | 'level') {
    const recursive = depth === 'whole' ? '1' : undefined;
    return this.read('writing', responses.tree, at, {
      path: '/git/trees/{tree_sha}',
      parameters: { tree_sha: sha, recursive },
    });
  }

  createBlob(at: RepositoryName, base64: string) {
    return this.createObject(at, 'blobs', { content: base64, encoding: 'base64' });
  }

  createTree(at: RepositoryName, base: string, entries: readonly NewTreeEntry[]) {
    const made = entries.map(({ path, kind, content = { blob: null } }) => {
      const entry = { path, mode: MODES[kind], type: 'blob' };
      return 'text' in content ? { ...entry, content: content.text } : { ...entry, sha: content.blob };
    });
    return this.createObject(at, 'trees', { base_tree: base, tree: made });
  }

  createCommit(
    at: RepositoryName,
    { parent, ...fields }: { readonly message: string; readonly tree: string; readonly parent: string },
  ) {
    return this.createObject(at, 'commits', { ...fields, parents: [parent] });
  }

  async found<T>(at: RepositoryName, asked: Promise<T | undefined>): Promise<T> {
    const answer = await asked;
    if (answer !== undefined) return answer;
    throw await this.missing(at, responses.refusal('CONFLICT', 'changedMeanwhile', at));
  }

  async missing(at: RepositoryName, otherwise: MusterError): Promise<MusterError> {
    return (await this.repository(at)) === undefined ? responses.refusal('NOT_FOUND', 'repository', at) : otherwise;
  }

  /** @param as `writing` if a later write depends on the data, so that both requests use the same credential */
  private async read<Schema extends z.ZodType>(
    as: 'reading' | 'writing',
    schema: Schema,
    at: RepositoryName,
    { path, parameters, missing }: GitHubRequest,
  ) {
    const client = await this.ports[as](at);
    const answer = await client.find(`GET ${IN_REPOSITORY}${path}`, { ...at, ...parameters }, missing);
    return answer && responses.checkedResponse(schema, answer);
  }

  /** Sends a write that must not be sent twice. @throws MusterError also if GitHub returns 404 */
  private async write<Word extends string>(
    at: RepositoryName,
    { method, path }: { readonly method: 'POST' | 'PATCH'; readonly path: string },
    parameters: object,
    recognize: RecognizeRefusal<Word>,
  ): Promise<responses.GitHubResponse | Word | 'unanswered'> {
    const client = await this.ports.writing(at);
    const route = `${method} ${IN_REPOSITORY}${path}`;
    const answer = await client.once(route, { ...at, ...parameters }, (refusal) =>
      refusal.status === 404 ? 'nothing' : recognize(refusal),
    );
    if (answer === 'nothing') throw await this.unwritable(at);
    return answer;
  }

  /** Creates a Git object. Creating the same object twice has no effect. */
  private async createObject(at: RepositoryName, kind: 'blobs' | 'trees' | 'commits', parameters: RequestParameters) {
    const client = await this.ports.writing(at);
    const made = await client.find(`POST ${IN_REPOSITORY}/git/${kind}`, { ...at, ...parameters });
    if (made === undefined) throw await this.unwritable(at);
    return responses.checkedResponse(responses.hasSha, made);
  }

  private unwritable(at: RepositoryName): Promise<MusterError> {
    return this.missing(at, responses.refusal('FORBIDDEN', 'readOnly', at));
  }
}

const refusedPullRequest: RecognizeRefusal<'exists' | 'same' | 'head' | 'base'> = ({ status, text }) => {
  if (status !== 422) return undefined;
  if (/pull request already exists/i.test(text)) return 'exists';
  if (/no commits between/i.test(text)) return 'same';
  const [, field] = /"field":"(head|base)","code":"invalid"/.exec(text) ?? [];
  return field === 'head' || field === 'base' ? field : undefined;
};
