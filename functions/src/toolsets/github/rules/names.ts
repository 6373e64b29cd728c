/**
 * Validates names of repositories, files and refs that callers send. Characters with a meaning in URLs are rejected,
 * because names become parts of URLs. Also builds search queries, and finds the line of a search match. Source: the
 * network specification, "github.readFile", "github.searchCode"; https://git-scm.com/docs/git-check-ref-format
 */
import { z } from 'zod';
import type { Fields } from '../../../kernel/documentCodec.ts';
import { isRefName } from '../../../kernel/ids.ts';
import { characterCount, hasAtMost } from '../../../kernel/text.ts';
import type { GitHubChange, RepositoryName } from './ports.ts';
import { refusal } from './responses.ts';

/** Source: the network specification. */
export const OWNER_PATTERN = '^[a-zA-Z0-9-]+$';
export const REPO_PATTERN = '^[a-zA-Z0-9-_.]+$';

/** Maximum lengths of names, a little longer than on github.com, because GitHub Enterprise may allow longer names. */
const MAX_NAME_LENGTH = 100;
const MAX_PATH_LENGTH = 4096;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are rejected
const CONTROL = /[\u0000-\u001f\u007f\ud800-\udfff]/u;
const SHA = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

/** @throws MusterError INVALID_FORMAT if the owner or the name is invalid */
export function repositoryName(
  owner: string,
  repo: string,
  fields: readonly [string, string] = ['owner', 'repo'],
): RepositoryName {
  if (owner.length > MAX_NAME_LENGTH || !new RegExp(OWNER_PATTERN).test(owner))
    throw refusal('INVALID_FORMAT', 'owner', { field: fields[0] });
  if (repo.length > MAX_NAME_LENGTH || !new RegExp(REPO_PATTERN).test(repo) || /^\.{1,2}$/.test(repo))
    throw refusal('INVALID_FORMAT', 'repo', { field: fields[1] });
  return { owner, repo };
}

/** Checks the path of a file, relative to the repository root. @throws MusterError INVALID_FORMAT */
export function filePath(path: string, field = 'path'): string {
  const wrong = pathProblem(path);
  if (wrong !== undefined) throw refusal('INVALID_FORMAT', 'path', { wrong, field });
  return path;
}

function pathProblem(path: string): string | undefined {
  if (!hasAtMost(path, MAX_PATH_LENGTH)) return `is longer than ${MAX_PATH_LENGTH} characters`;
  if (CONTROL.test(path)) return 'contains control characters';
  const segments = path.split('/');
  if (segments.includes('')) return 'is empty or has an empty part: remove "/" at the start or end';
  return segments.some((segment) => /^\.{1,2}$/.test(segment)) ? 'has a part "." or ".."' : undefined;
}

/** Checks the name of a branch or tag, or the SHA of a commit. @throws MusterError INVALID_FORMAT */
export function refName(ref: string, field = 'ref'): string {
  if (!isRefName(ref)) throw refusal('INVALID_FORMAT', 'ref', { field });
  return ref;
}

/** Parses the head of a pull request: a branch, or `owner:branch` for a fork. @throws MusterError INVALID_FORMAT */
export function headName(head: string): { readonly owner?: string; readonly branch: string } {
  const colon = head.indexOf(':');
  if (colon === -1) return { branch: refName(head, 'head') };
  const owner = head.slice(0, colon);
  return {
    owner: repositoryName(owner, 'any', ['head', 'head']).owner,
    branch: refName(head.slice(colon + 1), 'head'),
  };
}

export function isSha(ref: string): boolean {
  return SHA.test(ref);
}

export const searchFilters = z
  .strictObject({
    owner: z.string().describe('User or organization'),
    repo: z.string().describe('With owner, or as owner/name'),
    language: z.string().describe('"TypeScript"'),
    path: z.string().describe('Folder'),
    filename: z.string().describe('"package.json"'),
    extension: z.string().describe('"ts"'),
  })
  .partial();

export type SearchFilters = z.output<typeof searchFilters>;

/** GitHub's maximum length of a search query, including its qualifiers. */
export const MAX_QUERY_LENGTH = 256;
const QUOTED = ['language', 'path', 'filename', 'extension'] as const;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they would end the qualifier
const UNQUOTABLE = /["\\\u0000-\u001f\u007f]/;

/**
 * Returns a search query that consists of the filters as qualifiers, followed by the caller's query. The qualifiers
 * come first and in quotes, so that no quotation mark in the query can change their meaning.
 * @throws MusterError INVALID_FORMAT
 */
export function searchQuery(query: string, filters: SearchFilters): string {
  const qualifiers = [
    ...placesOf(filters),
    ...QUOTED.flatMap((name) => {
      const value = filters[name];
      return value === undefined ? [] : [`${name}:"${quotable(name, value)}"`];
    }),
  ];
  const whole = [...qualifiers, query].join(' ');
  const length = characterCount(whole);
  if (length <= MAX_QUERY_LENGTH) return whole;
  throw refusal('INVALID_FORMAT', 'query', { length, max: MAX_QUERY_LENGTH });
}

function placesOf({ owner, repo }: SearchFilters): string[] {
  const fields = ['filters.owner', 'filters.repo'] as const;
  if (repo === undefined) return owner === undefined ? [] : [`user:${repositoryName(owner, 'any', fields).owner}`];
  const [first = '', second, ...more] = repo.split('/');
  const named = second === undefined ? { owner, repo: first } : { owner: first, repo: second };
  if (named.owner === undefined || more.length > 0 || (owner !== undefined && owner !== named.owner))
    throw refusal('INVALID_FORMAT', 'searchedRepo');
  const at = repositoryName(named.owner, named.repo, fields);
  return [`repo:${at.owner}/${at.repo}`];
}

/** Returns the owner whose repositories are searched; undefined if the filters do not restrict the owner. */
export function searchedOwner({ owner, repo }: SearchFilters): string | undefined {
  return owner ?? (repo?.includes('/') ? repo.split('/')[0] : undefined);
}

function quotable(name: string, value: string): string {
  const trimmed = name === 'extension' ? value.trim().replace(/^\./, '') : value.trim();
  if (trimmed !== '' && !UNQUOTABLE.test(trimmed)) return trimmed;
  throw refusal('INVALID_FORMAT', 'filter', { name, field: `filters.${name}` });
}

/** Returns the line number of a match, starting at 1; undefined if the file does not contain the fragment. */
export function lineOf(content: string, fragment: string, start: number): number | undefined {
  const at = content.indexOf(fragment);
  return at === -1 ? undefined : content.slice(0, at + start).split('\n').length;
}

/** Returns the line of the fragment in which the match starts. */
export function matchedLine(fragment: string, start: number): string {
  const from = fragment.lastIndexOf('\n', start - 1) + 1;
  const to = fragment.indexOf('\n', start);
  return fragment.slice(start === 0 ? 0 : from, to === -1 ? undefined : to);
}

/** Returns an audit entry for an object that was created or changed on GitHub. */
export function outsideRepositories(
  { owner, repo }: RepositoryName,
  what: string,
  after: Fields,
  before?: Fields,
): GitHubChange {
  const id = `${owner}/${repo} ${what}`;
  return { kind: 'audit', effect: { kind: 'external', id, ...(before && { before }), after } };
}
