/** What is sent to GitHub's code search, and what its hits say of lines. Source: spec/network.md, "github.searchCode". */
import { invalidArgument } from './errors.ts';
import { repositoryName } from './names.ts';

export interface SearchFilters {
  readonly owner?: string | undefined;
  readonly repo?: string | undefined;
  readonly language?: string | undefined;
  readonly path?: string | undefined;
  readonly filename?: string | undefined;
  readonly extension?: string | undefined;
}

/** What GitHub takes, qualifiers included. */
const MAX_QUERY_LENGTH = 256;

const QUOTED = ['language', 'path', 'filename', 'extension'] as const;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they would end the qualifier
const BREAKS_OUT = /["\\\u0000-\u001f\u007f]/;

/**
 * The filters as qualifiers, and then the query. The qualifiers come first and in quotes, so that neither they
 * nor an open quote of the query changes what the others mean.
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
  if (whole.length <= MAX_QUERY_LENGTH) return whole;
  throw invalidArgument(
    'query',
    'QUERY_TOO_LONG',
    `Query and filters have ${whole.length} characters together; GitHub takes ${MAX_QUERY_LENGTH}.`,
    'Shorten the query.',
  );
}

function placesOf({ owner, repo }: SearchFilters): string[] {
  const fields = ['filters.owner', 'filters.repo'] as const;
  if (repo === undefined) {
    return owner === undefined ? [] : [`user:${repositoryName(owner, 'any', fields).owner}`];
  }
  const [first = '', second, ...more] = repo.split('/');
  const named = second === undefined ? { owner, repo: first } : { owner: first, repo: second };
  if (named.owner === undefined || more.length > 0 || (owner !== undefined && owner !== named.owner)) {
    throw invalidArgument(
      'filters.repo',
      'INVALID_NAME',
      'A repository is searched by its owner and its name.',
      'Give filters.owner and filters.repo, or filters.repo as "sartor-ai/claude-network".',
    );
  }
  const at = repositoryName(named.owner, named.repo, fields);
  return [`repo:${at.owner}/${at.repo}`];
}

/** In whose repositories the search is, where the filters say so. */
export function searchedOwner({ owner, repo }: SearchFilters): string | undefined {
  return owner ?? (repo?.includes('/') ? repo.split('/')[0] : undefined);
}

function quotable(name: string, value: string): string {
  const trimmed = name === 'extension' ? value.trim().replace(/^\./, '') : value.trim();
  if (trimmed !== '' && !BREAKS_OUT.test(trimmed)) return trimmed;
  throw invalidArgument(
    `filters.${name}`,
    'INVALID_FILTER',
    `The filter "${name}" is empty or has quotes, backslashes or control characters.`,
    'Give the plain value, without quotes.',
  );
}

/**
 * The number of the line, from 1, on which a match stands.
 * @param start of the match within the fragment
 * @returns undefined where the file does not hold the fragment
 */
export function lineOf(content: string, fragment: string, start: number): number | undefined {
  const at = content.indexOf(fragment);
  return at === -1 ? undefined : content.slice(0, at + start).split('\n').length;
}

/** The line of the fragment on which the match begins. */
export function matchedLine(fragment: string, start: number): string {
  const from = fragment.lastIndexOf('\n', start - 1) + 1;
  const to = fragment.indexOf('\n', start);
  return fragment.slice(start === 0 ? 0 : from, to === -1 ? undefined : to);
}
