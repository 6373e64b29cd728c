/** Files, commits and code search. Source: https://docs.github.com/rest/repos/contents, /rest/git, /rest/search */

import { z } from 'zod';
import {
  type CodeHit,
  type CodeHits,
  type CodeSearch,
  type Contents,
  type ListedEntry,
  plainText,
  type RepositoryName,
  type TreeListing,
} from '../../toolsets/github/index.ts';
import { checked, line, present, sha, text } from './answers.ts';
import { ask, type Client, find } from './asking.ts';

const TEXT_MATCHES = { accept: 'application/vnd.github.text-match+json' };

/** The longest fragment that a hit is kept with. */
const MAX_FRAGMENT_LENGTH = 4000;

const base64 = z.string().transform((content) => content.replace(/\s/g, ''));

const size = z.int().min(0);

const entry = z.object({ name: line, type: z.string() });

/** A directory is a list, everything else one object. */
const contents = z.union([
  z.array(entry),
  z.discriminatedUnion('type', [
    z.object({ type: z.literal('file'), path: z.string(), sha, size, content: base64, encoding: z.string() }),
    z.object({ type: z.literal('symlink'), path: z.string(), sha, target: text }),
    z.object({ type: z.literal('submodule'), path: z.string(), sha, submodule_git_url: text.nullish() }),
  ]),
]);

const blob = z.object({ content: base64, encoding: z.literal('base64') });

const tree = z.object({
  tree: z.array(z.object({ path: z.string(), mode: z.string(), type: z.string(), sha })),
  truncated: z.boolean(),
});

/** By Git's modes; all others are plain files. */
const KINDS: ReadonlyMap<string, ListedEntry['kind']> = new Map([
  ['100755', 'executable'],
  ['120000', 'symlink'],
  ['160000', 'submodule'],
]);

const textMatch = z.object({
  property: z.string().nullish(),
  fragment: z.string().default(''),
  matches: z
    .array(z.object({ text: z.string().default(''), indices: z.array(z.int().min(0)).default([]) }))
    .default([]),
});

const hit = z
  .object({
    path: line,
    sha,
    repository: z.object({ name: line, owner: z.object({ login: line }), description: text.nullish() }),
    text_matches: z.array(textMatch).default([]),
  })
  .transform(
    ({ path, sha: found, repository, text_matches }): CodeHit => ({
      ...present({ description: repository.description }),
      at: { owner: repository.owner.login, repo: repository.name },
      path,
      sha: found,
      fragments: text_matches
        .filter(({ property }) => property === 'content')
        .map(({ fragment, matches }) => ({
          text: fragment.slice(0, MAX_FRAGMENT_LENGTH),
          matches: matches
            .map((match) => ({ start: match.indices[0] ?? 0, text: match.text }))
            .filter(({ start }) => start < MAX_FRAGMENT_LENGTH),
        })),
    }),
  );

const hits = z.object({
  total_count: z.int().min(0),
  incomplete_results: z.boolean(),
  items: z.array(hit),
});

export async function readContents(
  client: Client,
  at: RepositoryName,
  path: string,
  ref: string,
): Promise<Contents | undefined> {
  const route = 'GET /repos/{owner}/{repo}/contents/{path}';
  const answer = await find(client, route, { ...at, path, ref });
  if (answer === undefined) return undefined;
  const found = checked(contents, answer);
  if (Array.isArray(found)) return { type: 'directory', entries: found.map(shownEntry) };
  switch (found.type) {
    case 'file': {
      const { content, encoding, ...file } = found;
      // Above 1 MB it comes without content and says "none"; an empty file has none either.
      return encoding === 'base64' ? { ...file, base64: content } : file;
    }
    case 'symlink':
      return found;
    case 'submodule': {
      const { submodule_git_url: url, ...submodule } = found;
      return { ...submodule, ...present({ url }) };
    }
  }
}

function shownEntry({ name, type }: z.output<typeof entry>): string {
  return plainText(type === 'dir' ? `${name}/` : name, 300);
}

export async function readBlob(client: Client, at: RepositoryName, of: string): Promise<string | undefined> {
  const route = 'GET /repos/{owner}/{repo}/git/blobs/{file_sha}';
  const answer = await find(client, route, { ...at, file_sha: of });
  return answer && checked(blob, answer).content;
}

export async function listTree(
  client: Client,
  at: RepositoryName,
  of: string,
  depth: 'whole' | 'level',
): Promise<TreeListing | undefined> {
  const route = 'GET /repos/{owner}/{repo}/git/trees/{tree_sha}';
  const recursive = depth === 'whole' ? { recursive: '1' } : {};
  const answer = await find(client, route, { ...at, tree_sha: of, ...recursive });
  if (answer === undefined) return undefined;
  const { tree: entries, truncated } = checked(tree, answer);
  const listed = entries.map((one) => ({ path: one.path, kind: kindOf(one), sha: one.sha }));
  return { entries: listed, truncated };
}

function kindOf({ mode, type }: { mode: string; type: string }): ListedEntry['kind'] {
  if (type === 'tree') return 'directory';
  return KINDS.get(mode) ?? 'file';
}

export async function searchCode(
  client: Client,
  { query, sort, page, perPage }: CodeSearch,
): Promise<CodeHits> {
  const answer = await ask(client, 'GET /search/code', {
    q: query,
    ...(sort === 'indexed' && { sort }),
    page,
    per_page: perPage,
    headers: TEXT_MATCHES,
  });
  const { total_count: total, incomplete_results: incomplete, items } = checked(hits, answer);
  return { total, incomplete, hits: items };
}

export async function readRateLimit(client: Client) {
  const { resources } = checked(rateLimits, await ask(client, 'GET /rate_limit', {}));
  const { limit, remaining, reset } = resources.core;
  return { limit, remaining, reset: new Date(reset * 1000) };
}

const rateLimits = z.object({
  resources: z.object({ core: z.object({ limit: size, remaining: size, reset: size }) }),
});
