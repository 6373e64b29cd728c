/** Reads files and searches code. Source: the network specification, "GitHub Tools"; docs/semantics.md#network. */
import { isListed } from '../../../access/rules/workspace.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { byteLength, MAX_LISTED_BYTES } from '../../../kernel/json.ts';
import { withoutCodes } from '../../../kernel/text.ts';
import { filePath, lineOf, matchedLine, refName, type SearchFilters, searchedOwner, searchQuery } from './names.ts';
import type { CodeSearch, GitHub, GitHubPorts, RepositoryName, WorkflowRunQuery } from './ports.ts';
import { type RepositoryScope, searchWithin } from './reach.ts';
import { type CodeHit, type FoundFile, refusal } from './responses.ts';
import { base64Part, plainText, textPart, utf8Text } from './text.ts';

/** Maximum size of a file in bytes. A file that is too large for one response is returned in parts. */
const MAX_FILE_BYTES = 5_242_880;
const SHOWN_ENTRIES = 100;

/** Number of found files that are read to determine line numbers. Each file needs a request to GitHub. */
const FILES_READ = 5;

/** Number of found repositories that are read, for the stars that search results do not contain. */
const REPOSITORIES_READ = 5;
const MAX_MATCHES = 10;
const MAX_RESULTS = 1000;

type Encoding = 'utf8' | 'base64';

/** @throws MusterError with the reason IS_DIRECTORY or SIZE_LIMIT_EXCEEDED, or another reason of the specification */
export async function readContent(
  gitHub: GitHub,
  at: RepositoryName,
  { path, ref, encoding, offset }: { path: string; ref: string; encoding: Encoding; offset: number },
) {
  const contents = await gitHub.contents(at, filePath(path), refName(ref));
  if (contents === undefined) throw await missing(gitHub, at, path, ref);
  switch (contents.type) {
    case 'directory': {
      const { length } = contents.entries;
      const more = length > SHOWN_ENTRIES ? `; the first ${SHOWN_ENTRIES} of ${length}` : '';
      const entries = contents.entries.slice(0, SHOWN_ENTRIES);
      throw refusal('VALIDATION_ERROR', 'directoryRead', { path, more, entries });
    }
    case 'submodule':
      return { ...contents, content: '', size: 0, encoding: 'utf8' };
    case 'symlink': {
      const { target, ...link } = contents;
      const content = encoding === 'utf8' ? target : Buffer.from(target).toString('base64');
      return { ...link, size: Buffer.byteLength(target), encoding, content };
    }
    case 'file':
      return file(gitHub, at, contents, { encoding, offset });
  }
}

/** Searches the listed repositories. If GitHub also found others, the total counts only the returned results. */
export async function findCode(
  ports: GitHubPorts,
  place: RepositoryScope,
  { query, filters, ...search }: Omit<CodeSearch, 'owner'> & { readonly filters: SearchFilters },
) {
  if ((search.page - 1) * search.perPage >= MAX_RESULTS)
    throw refusal('VALIDATION_ERROR', 'page', { max: MAX_RESULTS });
  const { gitHub } = ports;
  const owner = searchedOwner(filters);
  const within = await searchWithin(ports, place, searchQuery(query, filters));
  const found = await gitHub.searchCode({ ...search, query: within.query, owner });
  const hits = found.hits.filter(({ at }) => isListed(within.listed, nameOf(at)));
  const isWithin = hits.length === found.hits.length;
  const total = isWithin ? found.total : hits.length;
  const incomplete = isWithin ? found.incomplete : true;
  const [contents, stars] = await Promise.all([
    Promise.all(hits.slice(0, FILES_READ).map((hit) => textOf(gitHub, hit))),
    starsOf(gitHub, hits),
  ]);
  const results = hits.map((hit, index) => {
    const { owner, repo: name } = hit.at;
    const repository = { owner, name, description: hit.description, stars: stars.get(nameOf(hit.at)) };
    return { repository, path: hit.path, matches: matchesOf(hit, contents[index]) };
  });
  const { page, perPage } = search;
  const hasNext = page * perPage < Math.min(total, MAX_RESULTS);
  return { results, total, page, perPage, hasNext, incomplete };
}

/** Returns a file or a part of a file. A binary file is returned as base64, even if text was requested. */
async function file(
  gitHub: GitHub,
  at: RepositoryName,
  { base64: inline, ...file }: FoundFile,
  { encoding, offset }: { readonly encoding: Encoding; readonly offset: number },
) {
  const { path, size } = file;
  if (size > MAX_FILE_BYTES) throw refusal('VALIDATION_ERROR', 'fileTooLarge', { path, size, max: MAX_FILE_BYTES });
  const base64 = inline ?? (await gitHub.found(at, gitHub.blob(at, file.sha)));
  const text = encoding === 'utf8' ? utf8Text(base64) : undefined;
  return text === undefined
    ? { ...file, ...base64Part(base64, offset), encoding: 'base64' }
    : { ...file, ...textPart(text, offset), encoding };
}

/** Returns the error for a 404: the repository, the ref or the file was not found. */
async function missing(gitHub: GitHub, at: RepositoryName, path: string, ref: string): Promise<MusterError> {
  const [repository, commit] = await Promise.all([gitHub.repository(at), gitHub.commit(at, ref)]);
  if (repository === undefined) return refusal('NOT_FOUND', 'repository', at);
  const about = { ...at, path, ref };
  if (commit !== undefined) return refusal('NOT_FOUND', 'file', about);
  const { defaultBranch } = repository;
  if (defaultBranch === ref) return refusal('NOT_FOUND', 'ref', { ...about, field: 'ref' });
  return refusal('NOT_FOUND', 'refOfDefault', { ...about, field: 'ref', entries: [defaultBranch] });
}

/** Returns the text of a found file; undefined after an error, so that the result has no line numbers. */
async function textOf(gitHub: GitHub, { at, sha }: CodeHit): Promise<string | undefined> {
  const base64 = await gitHub.blob(at, sha).catch(ignoreUnreadable);
  return base64 === undefined ? undefined : utf8Text(base64);
}

async function starsOf(gitHub: GitHub, hits: readonly CodeHit[]): Promise<ReadonlyMap<string, number | undefined>> {
  const distinct = new Map(hits.map(({ at }) => [nameOf(at), at]));
  const read = [...distinct].slice(0, REPOSITORIES_READ).map(async ([name, at]) => {
    const repository = await gitHub.repository(at).catch(ignoreUnreadable);
    return [name, repository?.stars] as const;
  });
  return new Map(await Promise.all(read));
}

function nameOf({ owner, repo }: RepositoryName): string {
  return `${owner}/${repo}`;
}

function ignoreUnreadable(error: unknown): undefined {
  if (!(error instanceof MusterError)) throw error;
  return undefined;
}

function matchesOf({ fragments }: CodeHit, content: string | undefined) {
  const matches = fragments.flatMap(({ text, matches }) =>
    matches.map(({ start, text: highlight }) => ({
      line: content === undefined ? undefined : lineOf(content, text, start),
      text: plainText(matchedLine(text, start), 500),
      highlight: plainText(highlight, 200),
    })),
  );
  return matches.slice(0, MAX_MATCHES);
}

/** GitHub Actions runs and logs of their failed jobs. Source: the network specification, github.getWorkflowRuns. */

const LOGS_READ = 5;
const MAX_LOG_LENGTH = 400_000;
const WORKFLOW_FILE = /^[\w.-]{1,200}\.ya?ml$/;

export async function listRuns(gitHub: GitHub, at: RepositoryName, { workflow, ...query }: WorkflowRunQuery) {
  if (query.branch !== undefined) refName(query.branch, 'branch');
  const runs = await gitHub.workflowRuns(at, {
    ...query,
    workflow: workflow === undefined ? undefined : workflowName(workflow),
  });
  if (runs !== undefined) return runs;
  throw await gitHub.missing(at, refusal('NOT_FOUND', 'workflow', at));
}

/** Returns the failed jobs of a run, with the end of each log. Old logs are missing, because GitHub deletes them. */
export async function failedJobLogs(gitHub: GitHub, at: RepositoryName, runId: number, lines: number) {
  const failed = await gitHub.failedJobs(at, runId);
  if (failed === undefined) throw await gitHub.missing(at, refusal('NOT_FOUND', 'workflowRun', at));
  const jobs = await Promise.all(
    failed.jobs.map(async (job, index) => {
      const log = index < LOGS_READ ? await gitHub.jobLog(at, job.id, MAX_LOG_LENGTH) : undefined;
      if (log === undefined) return { ...job, lines: 0 };
      const tail = logTail(log, lines, MAX_LISTED_BYTES / LOGS_READ);
      return { ...job, log: tail.text, lines: tail.lines };
    }),
  );
  return { jobs, more: failed.more };
}

function workflowName(workflow: string | number): string | number {
  if (Number.isSafeInteger(Number(workflow)) && Number(workflow) > 0) return Number(workflow);
  if (typeof workflow === 'string' && WORKFLOW_FILE.test(workflow)) return workflow;
  throw refusal('INVALID_FORMAT', 'workflow');
}

const TIMESTAMP = /^\ufeff?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z /;
const MAX_LINE_LENGTH = 2000;

/** Returns the last lines of a log, without times and terminal codes. @param maxBytes maximum size of these lines */
export function logTail(log: string, lines: number, maxBytes: number) {
  const all = log.replace(/\r\n?/g, '\n').replace(/\n+$/, '').split('\n').slice(-lines);
  const plain = all.map((line) => plainText(withoutCodes(line.replace(TIMESTAMP, '')), MAX_LINE_LENGTH));
  let bytes = 0;
  const tooFar = plain.findLastIndex((line) => {
    bytes += byteLength(line);
    return bytes > maxBytes;
  });
  const shown = plain.slice(tooFar + 1);
  return { text: shown.join('\n'), lines: shown.length };
}
