/** Routes for repositories, their files, and code search. */
import { exampleOf } from '../description.ts';
import type { FileEntry } from '../objects.ts';
import { type Asked, invalid, notFound, Refused, type Routes, visible } from '../routing.ts';
import type { Repo } from '../state.ts';

/** Maximum size of files that are returned with their content. */
const MAX_INLINE_BYTES = 1_048_576;
const TYPES = { '100644': 'file', '100755': 'file', '120000': 'symlink', '160000': 'submodule' } as const;

export const contents: Routes = {
  'GET /repos/{owner}/{repo}': (asked) => ({ status: 200, body: shownRepository(visible(asked)) }),

  'GET /repos/{owner}/{repo}/contents/{path}': (asked) => {
    const repo = visible(asked);
    if (repo.branches.size === 0) throw new Refused(404, 'This repository is empty.');
    const { path } = asked.path;
    const ref = asked.query['ref'] ?? repo.defaultBranch;
    const commit = repo.resolve(ref);
    if (commit === undefined) throw new Refused(404, `No commit found for the ref ${ref}`);
    const files = repo.objects.filesOf(commit);
    const found = files.get(path ?? '');
    if (found !== undefined) return { status: 200, body: shownContent(asked, repo, files, [path ?? '', found]) };
    const inside = [...files].filter(([name]) => name.startsWith(`${path}/`));
    if (inside.length === 0) throw notFound();
    return { status: 200, body: listing(asked, repo, path ?? '', inside) };
  },

  'GET /repos/{owner}/{repo}/commits/{ref}': (asked) => {
    const repo = visible(asked);
    const ref = asked.path['ref'] ?? '';
    if (repo.branches.size === 0) throw new Refused(409, 'Git Repository is empty.');
    const sha = repo.resolve(ref);
    const commit = repo.objects.commits.get(sha ?? '');
    if (sha === undefined || commit === undefined) throw invalid(`No commit found for SHA: ${ref}`);
    const { files: _, ...example } = Object(exampleOf('GET /repos/{owner}/{repo}/commits/{ref}', 200));
    const url = `${asked.origin}/repos/${repo.fullName}/commits/${sha}`;
    const parents = commit.parents.map((parent) => ({ sha: parent, url, html_url: url }));
    const tree = { sha: commit.tree, url };
    const inner = { ...example.commit, message: commit.message, tree };
    return { status: 200, body: { ...example, sha, url, parents, commit: inner } };
  },

  'GET /search/code': (asked) => {
    const { page = '1', per_page: perPage = '30', q = '' } = asked.query;
    if (Number(page) * Number(perPage) > 1000) throw invalid('Only the first 1000 search results are available');
    const query = parsed(q);
    const all = [...asked.world.repositories.values()].filter((repo) => mayBeSearched(asked, repo, query));
    const hits = all.flatMap((repo) => hitsIn(asked, repo, query));
    const from = (Number(page) - 1) * Number(perPage);
    const items = hits.slice(from, from + Number(perPage));
    return { status: 200, body: { total_count: hits.length, incomplete_results: false, items } };
  },
};

export function shownRepository(repo: Repo): Record<string, unknown> {
  // The example is a fork, but the sample repositories are not.
  const { source: _, parent: __, ...example } = Object(exampleOf('GET /repos/{owner}/{repo}', 200));
  return {
    ...example,
    language: 'TypeScript', // The schema requires this field, but GitHub's example lacks it.
    id: repo.id,
    name: repo.name,
    full_name: repo.fullName,
    owner: { ...example.owner, login: repo.owner },
    description: repo.description,
    private: repo.isPrivate,
    stargazers_count: repo.stars,
    default_branch: repo.defaultBranch,
    has_issues: repo.hasIssues,
    archived: repo.isArchived,
  };
}

function shownContent(
  asked: Asked,
  repo: Repo,
  files: ReadonlyMap<string, FileEntry>,
  [path, entry]: readonly [string, FileEntry],
): unknown {
  const common = { ...commonOf(asked, repo, path, entry), type: TYPES[entry.mode] };
  if (entry.mode === '160000') return { ...common, submodule_git_url: 'https://github.com/sartor-ai/library.git' };
  const blob = repo.objects.blobs.get(entry.sha) ?? Buffer.alloc(0);
  if (entry.mode === '120000') {
    const target = blob.toString();
    const followed = files.get(target);
    // For a symbolic link to a file of the repository, GitHub returns that file.
    if (followed !== undefined) return shownContent(asked, repo, files, [target, followed]);
    return { ...common, size: blob.length, target };
  }
  if (blob.length > MAX_INLINE_BYTES) return { ...common, size: blob.length, encoding: 'none', content: '' };
  const content = blob.toString('base64').replace(/(.{60})/g, '$1\n');
  return { ...common, size: blob.length, encoding: 'base64', content };
}

function listing(asked: Asked, repo: Repo, path: string, inside: readonly (readonly [string, FileEntry])[]): unknown[] {
  const listed = new Map<string, unknown>();
  for (const [full, entry] of inside) {
    const [first = '', ...deeper] = full.slice(path.length + 1).split('/');
    const below = `${path}/${first}`;
    const type = deeper.length > 0 ? 'dir' : entry.mode === '160000' ? 'file' : TYPES[entry.mode];
    listed.set(first, { ...commonOf(asked, repo, below, entry), type, size: 0 });
  }
  return [...listed.values()];
}

function commonOf({ origin }: Asked, repo: Repo, path: string, { sha }: FileEntry) {
  const url = `${origin}/repos/${repo.fullName}/contents/${encodeURIComponent(path)}`;
  const html = `https://github.com/${repo.fullName}/blob/main/${encodeURIComponent(path)}`;
  const links = { git: url, html, self: url };
  const addresses = { url, git_url: url, html_url: html, download_url: html, _links: links };
  return { name: path.split('/').at(-1) ?? '', path, sha, size: 0, ...addresses };
}

interface Query {
  readonly words: readonly string[];
  readonly qualifiers: readonly (readonly [string, string])[];
  /** Qualifiers after a minus sign, which exclude their matches. */
  readonly without: readonly (readonly [string, string])[];
}

function parsed(q: string): Query {
  const words: string[] = [];
  const qualifiers: [string, string][] = [];
  const without: [string, string][] = [];
  for (const [, minus, name, quoted, bare, phrase, word] of q.matchAll(
    /(-?)(\w+):(?:"([^"]*)"|(\S+))|"([^"]*)"|(\S+)/g,
  )) {
    if (name !== undefined) (minus ? without : qualifiers).push([name, quoted ?? bare ?? '']);
    else words.push(phrase ?? word ?? '');
  }
  return { words, qualifiers, without };
}

function mayBeSearched(asked: Asked, repo: Repo, { qualifiers, without }: Query): boolean {
  try {
    visible({ ...asked, path: { owner: repo.owner, repo: repo.name } });
  } catch {
    return false;
  }
  const places = qualifiers.filter(([name]) => name === 'repo' || name === 'user');
  const isAt = ([, place]: readonly [string, string]) => place === repo.fullName || place === repo.owner;
  return (places.length === 0 || places.some(isAt)) && !without.some(isAt);
}

function hitsIn(asked: Asked, repo: Repo, { words, qualifiers }: Query): unknown[] {
  const commit = repo.branches.get(repo.defaultBranch);
  if (commit === undefined) return [];
  const tests: Readonly<Record<string, (path: string, value: string) => boolean>> = {
    path: (path, value) => path.startsWith(value),
    filename: (path, value) => path.split('/').at(-1) === value,
    extension: (path, value) => path.endsWith(`.${value}`),
  };
  return [...repo.objects.filesOf(commit)].flatMap(([path, entry]) => {
    const text = repo.objects.blobs.get(entry.sha)?.toString() ?? '';
    const fits = qualifiers.every(([name, value]) => tests[name]?.(path, value) ?? true);
    if (!fits || !words.every((word) => text.toLowerCase().includes(word.toLowerCase()))) return [];
    const hit = shownHit(asked, repo, path, entry);
    return [{ ...hit, text_matches: matchesIn(text, words, hit.url) }];
  });
}

function shownHit(asked: Asked, repo: Repo, path: string, entry: FileEntry) {
  const example = Object(exampleOf('GET /search/code', 200)).items[0];
  const { name, url, git_url, html_url } = commonOf(asked, repo, path, entry);
  const repository = { ...example.repository, ...ofHit(shownRepository(repo)) };
  return { ...example, name, path, sha: entry.sha, url, git_url, html_url, repository };
}

/** Returns the text around the first match of each word. */
function matchesIn(text: string, words: readonly string[], url: string): unknown[] {
  return words.map((word) => {
    const at = text.toLowerCase().indexOf(word.toLowerCase());
    const start = Math.max(0, text.lastIndexOf('\n', at - 1) + 1);
    const fragment = text.slice(start, start + 300);
    const indices = [at - start, at - start + word.length];
    const matches = [{ text: text.slice(at, at + word.length), indices }];
    return { object_url: url, object_type: 'FileContent', property: 'content', fragment, matches };
  });
}

/** Returns only the fields of a repository that a search result contains. */
function ofHit({ id, name, full_name, owner, description, ...rest }: Record<string, unknown>) {
  return { id, name, full_name, owner, description, private: rest['private'] };
}
