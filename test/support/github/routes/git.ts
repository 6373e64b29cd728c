/** Routes for blobs, trees, commits and refs. */
import { exampleOf } from '../description.ts';
import type { FileEntry, Mode, ObjectStore } from '../objects.ts';
import { type Asked, invalid, notFound, Refused, type Routes, visible, writable } from '../routing.ts';
import type { Repo } from '../state.ts';

export const git: Routes = {
  'GET /repos/{owner}/{repo}/git/blobs/{file_sha}': (asked) => {
    const sha = asked.path['file_sha'] ?? '';
    const blob = visible(asked).objects.blobs.get(sha);
    if (blob === undefined) throw notFound();
    const content = blob.toString('base64').replace(/(.{60})/g, '$1\n');
    const named = { sha, node_id: 'B1', url: `${asked.origin}/blob`, size: blob.length };
    return { status: 200, body: { ...named, content, encoding: 'base64' } };
  },

  'POST /repos/{owner}/{repo}/git/blobs': (asked) => {
    const repo = writable(asked);
    const { content, encoding } = asked.body;
    const bytes = Buffer.from(String(content), encoding === 'base64' ? 'base64' : 'utf8');
    return { status: 201, body: { url: `${asked.origin}/blob`, sha: repo.objects.blob(bytes) } };
  },

  'GET /repos/{owner}/{repo}/git/trees/{tree_sha}': (asked) => {
    const sha = asked.path['tree_sha'] ?? '';
    const { objects } = visible(asked);
    const files = objects.trees.get(sha);
    if (files === undefined) throw notFound();
    return { status: 200, body: listedTree(asked, sha, objects, files) };
  },

  'POST /repos/{owner}/{repo}/git/trees': (asked) => {
    const repo = writable(asked);
    const base = repo.objects.trees.get(String(asked.body['base_tree']));
    if (base === undefined) throw invalid('base_tree is not a valid tree oid');
    const files = new Map(base);
    const entries = asked.body['tree'];
    for (const entry of Array.isArray(entries) ? entries : []) change(repo, files, Object(entry));
    const sha = repo.objects.tree(files);
    return { status: 201, body: shownTree(asked, sha, files) };
  },

  'POST /repos/{owner}/{repo}/git/commits': (asked) => {
    const repo = writable(asked);
    const { message, tree, parents } = asked.body;
    if (!repo.objects.trees.has(String(tree))) throw invalid('Tree SHA does not exist');
    const named = (Array.isArray(parents) ? parents : []).map(String);
    if (!named.every((parent) => repo.objects.commits.has(parent))) throw invalid('Parent SHA does not exist');
    const commit = { tree: String(tree), parents: named, message: String(message) };
    const sha = repo.objects.commit(commit);
    const example = Object(exampleOf('POST /repos/{owner}/{repo}/git/commits', 201));
    return { status: 201, body: { ...example, sha, message, tree: { sha: tree, url: `${asked.origin}/tree` } } };
  },

  'GET /repos/{owner}/{repo}/git/ref/{ref}': (asked) => {
    const repo = visible(asked);
    if (repo.branches.size === 0) throw new Refused(409, 'Git Repository is empty.');
    const { name, sha } = branchOf(repo, asked.path['ref'] ?? '');
    if (sha === undefined) throw notFound();
    return { status: 200, body: shownRef(asked, name, sha) };
  },

  'POST /repos/{owner}/{repo}/git/refs': (asked) => {
    const repo = writable(asked);
    const { name, sha: there } = branchOf(repo, String(asked.body['ref']).replace(/^refs\//, ''));
    if (there !== undefined) throw invalid('Reference already exists');
    const sha = String(asked.body['sha']);
    if (!repo.objects.commits.has(sha)) throw invalid('Object does not exist');
    repo.branches.set(name, sha);
    return { status: 201, body: shownRef(asked, name, sha) };
  },

  'PATCH /repos/{owner}/{repo}/git/refs/{ref}': (asked) => {
    const repo = writable(asked);
    const { name, sha: there } = branchOf(repo, asked.path['ref'] ?? '');
    if (there === undefined) throw invalid('Reference does not exist');
    if (repo.protectedBranches.has(name)) throw invalid('Cannot update this protected branch.');
    const sha = String(asked.body['sha']);
    if (asked.body['force'] !== true && !repo.objects.isAncestor(there, sha))
      throw invalid('Update is not a fast forward');
    repo.branches.set(name, sha);
    return { status: 200, body: shownRef(asked, name, sha) };
  },

  /** Also closes the pull requests of the branch, as GitHub does. */
  'DELETE /repos/{owner}/{repo}/git/refs/{ref}': (asked) => {
    const repo = writable(asked);
    const { name, sha } = branchOf(repo, asked.path['ref'] ?? '');
    if (sha === undefined) throw invalid('Reference does not exist');
    repo.branches.delete(name);
    for (const pull of repo.pulls) if (pull.head === name) pull.state = 'closed';
    return { status: 204 };
  },
};

function change(
  repo: Repo,
  files: Map<string, FileEntry>,
  entry: { path?: string; mode?: Mode; sha?: string | null; content?: string },
): void {
  const { path = '', mode = '100644', sha, content } = entry;
  if (sha === null) {
    if (!files.delete(path)) throw invalid('GitRPC::BadObjectState');
    return;
  }
  const blob = content === undefined ? sha : repo.objects.blob(Buffer.from(content));
  if (blob === undefined || !repo.objects.blobs.has(blob)) throw invalid('tree.sha is not a valid blob');
  files.set(path, { mode, sha: blob });
}

function branchOf(repo: Repo, ref: string) {
  if (!ref.startsWith('heads/')) throw notFound();
  const name = ref.slice('heads/'.length);
  return { name, sha: repo.branches.get(name) };
}

function shownRef({ origin }: Asked, name: string, sha: string) {
  const url = `${origin}/git/refs/heads/${name}`;
  return { ref: `refs/heads/${name}`, node_id: 'R1', url, object: { type: 'commit', sha, url } };
}

/** Returns the entries of a tree and its directories. Without `recursive`, only the top level is listed. */
function listedTree(asked: Asked, sha: string, objects: ObjectStore, files: ReadonlyMap<string, FileEntry>) {
  const whole = shownTree(asked, sha, files);
  const byPath = new Map<string, unknown>();
  for (const entry of whole.tree) {
    const parts = entry.path.split('/');
    for (const [depth] of parts.slice(0, -1).entries()) {
      const path = parts.slice(0, depth + 1).join('/');
      if (byPath.has(path)) continue;
      byPath.set(path, { path, mode: '040000', type: 'tree', sha: subtree(objects, files, path) });
    }
    byPath.set(entry.path, entry);
  }
  if (asked.query['recursive'] === undefined)
    return { ...whole, tree: [...byPath].flatMap(([path, entry]) => (path.includes('/') ? [] : [entry])) };
  const { treeLimit } = asked.world;
  const tree = [...byPath.values()].slice(0, treeLimit);
  return { ...whole, tree, truncated: byPath.size > treeLimit };
}

function subtree(objects: ObjectStore, files: ReadonlyMap<string, FileEntry>, path: string): string {
  const inside = [...files].filter(([name]) => name.startsWith(`${path}/`));
  return objects.tree(new Map(inside.map(([name, entry]) => [name.slice(path.length + 1), entry])));
}

function shownTree({ origin }: Asked, sha: string, files: ReadonlyMap<string, FileEntry>) {
  const tree = [...files].map(([path, entry]) => ({
    path,
    mode: entry.mode,
    type: entry.mode === '160000' ? 'commit' : 'blob',
    sha: entry.sha,
  }));
  return { sha, url: `${origin}/git/trees/${sha}`, tree, truncated: false };
}
