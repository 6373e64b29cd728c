/** Comments and documents cite only existing files, documents and anchors. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const isOurs = (path: string): boolean => !/(^|\/)(node_modules|lib|\.dev)(\/|$)/.test(path);

const find = (pattern: string): readonly string[] =>
  globSync(pattern, { cwd: root, exclude: (path) => !isOurs(path) }).sort();

const sources = ['functions/src', 'console/src', 'runner/src', 'packages', 'scripts', 'test', 'bench'].flatMap(
  (folder) => find(`${folder}/**/*.{ts,tsx,mjs}`),
);
const documents = ['*.md', 'docs/**/*.md'].flatMap(find);

interface Citation {
  readonly from: string;
  /** Relative to the repository root. */
  readonly path: string;
  readonly anchor?: string | undefined;
}

/** Matches paths of this repository's documents. Other files in a `docs/` folder belong to vendors or fixtures. */
const CITED =
  /\b((?:docs\/(?:(?:decisions|guides|reference)\/[\w.-]+|architecture|benchmarks|data-model|semantics)|CONTRIBUTING)\.md)(?:#([\w-]+))?/g;

/** Citations of this repository's documents in comments and messages, with or without an anchor. */
const cited = sources.flatMap((from): readonly Citation[] =>
  [...readFileSync(join(root, from), 'utf8').matchAll(CITED)].map(([, path = '', anchor]) => ({ from, path, anchor })),
);

/** Links from a document to another document, or to an anchor in the same document. */
const linked = documents.flatMap((from): readonly Citation[] =>
  [...readFileSync(join(root, from), 'utf8').matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([\w-]+))?\)/g)].map(
    ([, to = '', anchor]) => ({ from, path: to === '' ? from : join(dirname(from), to), anchor }),
  ),
);

/** Specifications that docs/semantics.md lists. */
const SPECIFICATIONS = ['network', 'coordination', 'to-do', 'orchestration', 'coding'];
const COMMENT = /^\s*(?:\/?\*|\/\/).*$/gm;

/** Matches paths of this repository's files. The folder `spec/` was removed, so a citation of it fails. */
const FILE =
  /(?<![\w./@-])((?:spec|scripts|test|functions|console|runner|packages|bench|plugins|rtdb-lite)\/[\w./-]+\.(?:md|tsx?|mjs|json))\b/g;

/** Folders to which the paths in citations may be relative. */
const bases = ['', 'functions/src', 'runner/src'];

const show = (broken: readonly Citation[]): string =>
  broken.map(({ from, path, anchor }) => `${from} cites ${path}${anchor ? `#${anchor}` : ''}`).join('\n');

/** Returns the anchors that GitHub assigns to a document's headings. */
function anchorsOf(path: string): readonly string[] {
  const text = readFileSync(join(root, path), 'utf8');
  return [...text.matchAll(/^#+ +(.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

const isMissing = ({ path, anchor }: Citation): boolean =>
  !existsSync(join(root, path)) || (anchor !== undefined && !anchorsOf(path).includes(anchor));

describe('citations', () => {
  it('in comments name existing documents', () => {
    assert.equal(show(cited.filter(isMissing)), '');
    assert.ok(cited.length > 50);
  });

  it('in comments name existing files and the specifications of docs/semantics.md', () => {
    const semantics = readFileSync(join(root, 'docs/semantics.md'), 'utf8');
    const texts = sources.map((from) => [from, readFileSync(join(root, from), 'utf8')] as const);
    const specifications = texts.flatMap(([, text]) =>
      [...text.matchAll(/\bthe ([\w-]+) specification\b/g)].map(([, name = '']) => name),
    );
    for (const name of new Set(specifications.filter((one) => SPECIFICATIONS.includes(one))))
      assert.ok(semantics.includes(`| the ${name} specification |`), name);
    assert.ok(specifications.length > 50);
    const files = texts.flatMap(([from, text]): readonly Citation[] =>
      [...text.matchAll(COMMENT)].flatMap(([line]) =>
        [...line.matchAll(FILE)].map(([, path = '']) => ({ from, path })),
      ),
    );
    const isThere = ({ path }: Citation) => bases.some((base) => existsSync(join(root, base, path)));
    assert.equal(show(files.filter((one) => !isThere(one))), '');
    assert.ok(files.length > 10, String(files.length));
  });

  it('in documents link to existing files and anchors', () => {
    assert.equal(show(linked.filter(isMissing)), '');
    assert.ok(linked.length > 100);
  });

  it('in documents name existing files', () => {
    const written = documents.filter((path) => !path.startsWith('docs/reference/'));
    const named = written.flatMap((from): readonly Citation[] =>
      [...readFileSync(join(root, from), 'utf8').matchAll(/`([\w.-]+(?:\/[\w.-]+)+\.(?:ts|mjs))`/g)].map(
        ([, path = '']) => ({ from, path }),
      ),
    );
    const broken = named.filter(({ path }) => !bases.some((base) => existsSync(join(root, base, path))));
    assert.equal(show(broken), '');
    assert.ok(named.length > 50);
  });

  it('in the table of guarantees name existing test files', () => {
    const text = readFileSync(join(root, 'docs/guides/testing.md'), 'utf8');
    const [, table = ''] = /\n## Guarantees and their tests\n(.*?)\n## /s.exec(text) ?? [];
    const named = [...table.matchAll(/`([\w./]+\/[\w./]+)`/g)].map(([, test = '']) => `test/${test}.test.ts`);
    const missing = named.filter((path) => !existsSync(join(root, path)));
    assert.deepEqual(missing, []);
    assert.ok(named.length > 50);
  });

  it('in the index of decisions list every decision with its date and its status', () => {
    const index = readFileSync(join(root, 'docs/decisions/README.md'), 'utf8');
    for (const path of find('docs/decisions/[0-9]*.md')) {
      const text = readFileSync(join(root, path), 'utf8');
      const [, number, title] = /^# (\d+)\. (.+)/.exec(text) ?? [];
      const [, date, status] = /^Date: (\d{4}-\d\d-\d\d)\. Status: (.+)\.$/m.exec(text) ?? [];
      const row = `| [${number}](${basename(path)}) | ${title} | ${date} | ${status} |`;
      assert.ok(index.includes(`|\n${row}\n`), `the table of docs/decisions/README.md lacks: ${row}`);
    }
  });
});
