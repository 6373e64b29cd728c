/** Git objects. Each id is the SHA-1 digest of type, length and content. Source: https://git-scm.com/book, 10.2 */
import { createHash } from 'node:crypto';

export type Mode = '100644' | '100755' | '120000' | '160000';

export interface FileEntry {
  readonly mode: Mode;
  readonly sha: string;
}

export interface StoredCommit {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
}

/** Content of a sample file: text, bytes, or text with another file mode. */
export type Seed = string | Uint8Array | { readonly mode: Mode; readonly content: string };

export class ObjectStore {
  readonly blobs = new Map<string, Buffer>();
  /** Each tree maps full paths to files. Directories exist only as parts of these paths. */
  readonly trees = new Map<string, ReadonlyMap<string, FileEntry>>();
  readonly commits = new Map<string, StoredCommit>();

  blob(content: Buffer): string {
    const sha = name('blob', content);
    this.blobs.set(sha, content);
    return sha;
  }

  tree(files: ReadonlyMap<string, FileEntry>): string {
    const sorted = new Map([...files].sort(([left], [right]) => (left < right ? -1 : 1)));
    const lines = [...sorted].map(([path, { mode, sha }]) => `${mode} ${path}\0${sha}`);
    const sha = name('tree', Buffer.from(lines.join('\n')));
    this.trees.set(sha, sorted);
    return sha;
  }

  commit(commit: StoredCommit): string {
    const { tree, parents, message } = commit;
    const text = [`tree ${tree}`, ...parents.map((parent) => `parent ${parent}`), '', message].join('\n');
    const sha = name('commit', Buffer.from(text));
    this.commits.set(sha, commit);
    return sha;
  }

  seed(files: Readonly<Record<string, Seed>>, message: string, parents: readonly string[] = []): string {
    const entries = Object.entries(files).map(([path, seed]) => [path, this.entry(seed)] as const);
    return this.commit({ tree: this.tree(new Map(entries)), parents, message });
  }

  filesOf(commit: string): ReadonlyMap<string, FileEntry> {
    return this.trees.get(this.commits.get(commit)?.tree ?? '') ?? new Map();
  }

  textAt(commit: string, path: string): string | undefined {
    return this.blobs.get(this.filesOf(commit).get(path)?.sha ?? '')?.toString('utf8');
  }

  isAncestor(ancestor: string, of: string): boolean {
    if (ancestor === of) return true;
    return (this.commits.get(of)?.parents ?? []).some((parent) => this.isAncestor(ancestor, parent));
  }

  private entry(seed: Seed): FileEntry {
    if (typeof seed === 'string' || seed instanceof Uint8Array)
      return { mode: '100644', sha: this.blob(Buffer.from(seed)) };
    // The entry of a submodule contains the id of a commit in another repository.
    if (seed.mode === '160000') return { mode: seed.mode, sha: seed.content };
    return { mode: seed.mode, sha: this.blob(Buffer.from(seed.content)) };
  }
}

function name(type: string, content: Buffer): string {
  return createHash('sha1').update(`${type} ${content.length}\0`).update(content).digest('hex');
}
