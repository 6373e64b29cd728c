/** What comments and documents cite is in the repository. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));

const isOurs = (path: string): boolean => !/(^|\/)(node_modules|lib|\.dev)(\/|$)/.test(path);

const find = (pattern: string): readonly string[] =>
  globSync(pattern, { cwd: root, exclude: (path) => !isOurs(path) }).sort();

const sources = [
  'functions/src',
  'console/src',
  'runner/src',
  'packages',
  'scripts',
  'test',
  'bench',
].flatMap((folder) => find(`${folder}/**/*.{ts,tsx,mjs}`));
const documents = ['*.md', 'docs/**/*.md'].flatMap(find);

interface Citation {
  readonly from: string;
  /** From the repository's root. */
  readonly path: string;
  readonly anchor?: string | undefined;
}

/** One of our own documents: `docs/` has other names in the repositories of vendors and in fixtures. */
const CITED =
  /\b((?:docs\/(?:(?:decisions|guides|reference)\/[\w.-]+|architecture|benchmarks|data-model|semantics)|CONTRIBUTING)\.md)(?:#([\w-]+))?/g;

/** `docs/decisions/0001-….md`, with or without an anchor, within a comment or a message. */
const cited = sources.flatMap((from): readonly Citation[] =>
  [...readFileSync(join(root, from), 'utf8').matchAll(CITED)].map(([, path = '', anchor]) => ({
    from,
    path,
    anchor,
  })),
);

/** A link of a document to another, or to a place within itself. */
const linked = documents.flatMap((from): readonly Citation[] =>
  [...readFileSync(join(root, from), 'utf8').matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([\w-]+))?\)/g)].map(
    ([, to = '', anchor]) => ({ from, path: to === '' ? from : join(dirname(from), to), anchor }),
  ),
);

/** As docs/semantics.md names them. */
const SPECIFICATIONS = ['network', 'coordination', 'to-do', 'orchestration', 'coding'];

/** A line of a comment. */
const COMMENT = /^\s*(?:\/?\*|\/\/).*$/gm;

/** A path of ours in it; of documents below `docs/`, those above. `spec/` was cited for years, and is nowhere. */
const FILE =
  /(?<![\w./@-])((?:spec|scripts|test|functions|console|runner|packages|bench|plugins|rtdb-lite)\/[\w./-]+\.(?:md|tsx?|mjs|json))\b/g;

/** Below which a path may stand. */
const bases = ['', 'functions/src', 'runner/src'];

const show = (broken: readonly Citation[]): string =>
  broken.map(({ from, path, anchor }) => `${from} cites ${path}${anchor ? `#${anchor}` : ''}`).join('\n');

/** The anchors that GitHub gives to a document's headings. */
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
  it('of comments are documents of this repository', () => {
    assert.equal(show(cited.filter(isMissing)), '');
    assert.ok(cited.length > 50);
  });

  it('of comments name the five specifications, which nobody has here, and the files that are here', () => {
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

  it('of documents are there', () => {
    assert.equal(show(linked.filter(isMissing)), '');
    assert.ok(linked.length > 100);
  });

  it('of files are by a path that there is', () => {
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

  it('of tests that hold a promise are there', () => {
    const text = readFileSync(join(root, 'docs/guides/testing.md'), 'utf8');
    const [, table = ''] = /\n## Guarantees and their tests\n(.*?)\n## /s.exec(text) ?? [];
    const named = [...table.matchAll(/`([\w./]+\/[\w./]+)`/g)].map(([, test = '']) => `test/${test}.test.ts`);
    assert.deepEqual(
      named.filter((path) => !existsSync(join(root, path))),
      [],
    );
    assert.ok(named.length > 50);
  });

  it('find every decision in the index, with its date and its status', () => {
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
