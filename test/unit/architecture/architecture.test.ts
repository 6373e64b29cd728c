/** Enforces the import rules of docs/architecture.md and limits on the size of the code. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Function as FunctionNode, parse } from 'acorn';
import { simple } from 'acorn-walk';
import { moduleOf, modules, packageOwners, parts } from './modules.ts';

const repository = fileURLToPath(new URL('../../..', import.meta.url));
const source = join(repository, 'functions/src');
const folders = ['functions/src', 'console', 'runner', 'scripts', 'bench', 'rtdb-lite', 'packages'];

/**
 * Classes here use the keyword `private`. Those of rtdb-lite use `#x`, so that security rules cannot read the field.
 */
const privateFolders = ['functions/src', 'console', 'runner', 'scripts', 'bench', 'test'];
const MAX_PARAMETERS = 4;

/** Maximum number of files. Keeps the code small enough for a newcomer. */
const MAX_FILES = 426;
const MAX_LINES = 61_102;

/**
 * Maximum number of lines of all text files in git, including tests, documents and data but not lockfiles. The console
 * has its own limit. Source: docs/decisions/0055-console-design.md.
 */
const MAX_TRACKED_LINES = 218_734;
const MAX_CONSOLE_LINES = 19_320;

/** Maximum number of lines of a file. Most files have 60 to 250 lines. */
const MAX_FILE_LINES = 500;

interface Import {
  readonly from: string;
  readonly to: string;
  readonly onlyTypes: boolean;
  /** Whether the file is loaded when the import is reached, and not when the importing file is loaded. */
  readonly isLazy: boolean;
}

const files = filesIn(source);
const textOf = (file: string): string => readFileSync(join(source, file), 'utf8');
const imports = files.flatMap((file) => importsOf(source, file));
const inside = imports.filter(({ to }) => files.includes(to));
const packages = imports.filter(({ to }) => !files.includes(to) && !to.endsWith('.json'));
const show = (broken: readonly Import[]): string => broken.map(({ from, to }) => `${from} imports ${to}`).join('\n');

describe('code structure', () => {
  it('assigns every file to exactly one layer', () => {
    const outside = files.filter((file) => moduleOf(file) === undefined);
    assert.deepEqual(
      outside,
      [],
      'add the folder to test/unit/architecture/modules.ts and its import rules to functions/imports.grit',
    );
    assert.ok(files.length > 50);
    assert.ok(imports.length > files.length);
  });

  it('resolves every import to a file or package, so that the import rules apply to it', () => {
    const unresolved = imports.filter(({ to }) => to.endsWith('.ts') && !files.includes(to));
    assert.equal(show(unresolved), '');
  });

  it('lets a layer import only lower layers, and a toolset only the index.ts of another toolset', () =>
    assert.equal(show(inside.filter(({ from, to }) => !mayImport(from, to))), ''));

  it('keeps input and output out of rules, and databases out of tools', () => {
    const broken = inside.filter(({ from, to, onlyTypes }) =>
      parts.some(({ part, never, butTypes }) => part.test(from) && never.test(to) && !(butTypes && onlyTypes)),
    );
    assert.equal(show(broken), '');
  });

  it('allows the import of each package only in the folders that own it', () => {
    const broken = packages.filter(({ from, to }) => {
      const owners = Object.entries(packageOwners).find(([name]) => to === name || to.startsWith(`${name}/`))?.[1];
      return owners === undefined || !owners.some((owner) => isBelow(from, owner));
    });
    assert.equal(show(broken), '');
  });

  it('lets the console import only schemas that load zod/mini, except when it needs other code', () => {
    const loaded = new Set(filesIn(join(repository, 'console/src')).map((file) => `console/src/${file}`));
    const broken: Import[] = [];
    for (const file of loaded)
      for (const found of importsOf(repository, file).filter(({ onlyTypes, isLazy }) => !onlyTypes && !isLazy)) {
        if (found.to.startsWith('functions/')) loaded.add(found.to);
        else if (file.startsWith('functions/') && found.to !== 'zod/mini') broken.push(found);
      }
    assert.equal(show(broken), '');
    assert.ok(loaded.has('functions/src/toolsets/coordination/rules/task.ts'));
  });

  it('lets the console and the views in chat share components in one direction only', () => {
    const root = join(repository, 'console');
    const allowed: Readonly<Record<string, RegExp>> = {
      src: /^(src|text|ui)\//,
      ui: /^(ui|text)\//,
      text: /^text\//,
      views: /^(ui|text|views)\//,
      worker: /^text\//,
    };
    const broken = Object.entries(allowed).flatMap(([folder, pattern]) =>
      filesIn(join(root, folder))
        .flatMap((file) => importsOf(root, `${folder}/${file}`))
        .filter(({ to }) => /^(src|text|ui|views)\//.test(to) && !pattern.test(to)),
    );
    assert.equal(show(broken), '');
  });

  it('loads no services and no packages except those of Firebase before the first request', () => {
    const loaded = new Set(['index.ts']);
    for (const file of loaded) {
      const next = files.includes(file) ? importsOf(source, file) : [];
      for (const { to } of next.filter(({ onlyTypes, isLazy }) => !onlyTypes && !isLazy)) loaded.add(to);
    }
    const others = [...loaded].filter((one) => !/\.(ts|json)$|^(node:|firebase-functions\/)/.test(one));
    assert.deepEqual(others, []);
    assert.ok(loaded.has('mcp/http/endpoint.ts') && !loaded.has('composition/compose.ts'));
  });

  it('declares each type in one place, so that editors find its definition', () =>
    assert.equal(files.filter((file) => textOf(file).includes('declare module')).join('\n'), ''));

  it('limits the length of the composition root', () => {
    const root = textOf('composition/compose.ts');
    assert.ok(root.split('\n').length <= 301, 'composition/compose.ts');
    const created = root.match(/= create[A-Z]\w+/g) ?? [];
    assert.ok(created.length >= 13, `it creates ${created.length} features`);
    // Each feature creates its own store.
    const makers = inside.filter(({ from, to }) => from === 'composition/compose.ts' && to.includes('/store/'));
    assert.equal(show(makers), '');
  });

  it('does not let a tool import another tool', () => {
    const tools = files.filter((file) => textOf(file).includes('= defineTool('));
    assert.equal(show(inside.filter(({ from, to }) => tools.includes(from) && tools.includes(to))), '');
  });

  for (const folder of folders)
    it(`has no circular imports in ${folder}, including imports of types`, () => {
      const root = join(repository, folder);
      const all = filesIn(root);
      assert.ok(all.length > 1);
      const next = all.map((file) => [file, importsOf(root, file).map(({ to }) => to)] as const);
      assert.deepEqual(circle(new Map(next)), []);
    });

  it('limits the number of lines of each file', () => {
    const long = files.filter((file) => textOf(file).split('\n').length > MAX_FILE_LINES + 1);
    assert.deepEqual(long, []);
  });

  it(`has fewer than ${MAX_FILES} files and fewer than ${MAX_LINES} lines in functions/src`, () => {
    const lines = files.reduce((sum, file) => sum + textOf(file).split('\n').length - 1, 0);
    assert.ok(files.length < MAX_FILES, `${files.length} files`);
    assert.ok(lines < MAX_LINES, `${lines} lines`);
  });

  for (const [paths, max] of [
    [[':!*package-lock.json', ':!console'], MAX_TRACKED_LINES],
    [['console'], MAX_CONSOLE_LINES],
  ] as const)
    it(`has fewer than ${max} lines in all tracked text files of ${paths.join(' ')}`, () => {
      // The output has one line per text file, with the path and the number of lines.
      const counts = execFileSync('git', ['-c', 'safe.directory=*', 'grep', '-Ic', '', '--', ...paths], {
        cwd: repository,
        encoding: 'utf8',
      });
      const lines = [...counts.matchAll(/:(\d+)$/gm)].reduce((sum, [, count]) => sum + Number(count), 0);
      assert.ok(lines > max / 2 && lines < max, `${lines} lines`);
    });

  for (const folder of [...folders, 'test'])
    it(`has no function with more than four positional parameters in ${folder}`, () => {
      const root = join(repository, folder);
      const broken = filesIn(root)
        .filter((file) => !file.endsWith('.tsx'))
        .flatMap((file) =>
          functionsIn(readFileSync(join(root, file), 'utf8'))
            .filter(({ parameters }) => parameters > MAX_PARAMETERS)
            .map(({ line, parameters }) => `${file}:${line} has ${parameters}`),
        );
      assert.deepEqual(broken, []);
    });

  for (const folder of [...folders, 'test'])
    it(`never spreads an object literal in ${folder}, because that changes only the formatting`, () => {
      const root = join(repository, folder);
      const broken = filesIn(root).filter((file) => /^\s*\.\.\.\{/m.test(readFileSync(join(root, file), 'utf8')));
      assert.deepEqual(broken, []);
    });

  for (const folder of privateFolders)
    it(`declares private members in the same way everywhere in ${folder}`, () => {
      const root = join(repository, folder);
      const broken = filesIn(root)
        .filter((file) => /\.tsx?$/.test(file))
        .filter((file) => /\bthis\.#\w/.test(readFileSync(join(root, file), 'utf8')));
      assert.deepEqual(broken, [], 'write `private readonly x` instead of `#x`');
    });

  it('lists the import rules of every layer in imports.grit, so that editors show violations', () => {
    const rules = readFileSync(join(source, '../imports.grit'), 'utf8');
    const layers = new Set(Object.keys(modules).map((room) => room.split('/')[0]));
    const missing = [...layers].filter((layer) => !rules.includes(`"${layer}"`));
    assert.deepEqual(missing, []);
  });
});

function filesIn(folder: string): readonly string[] {
  const found = globSync('**/*.{ts,tsx,mjs}', { cwd: folder });
  return found.filter((file) => !/(^|\/)(node_modules|dist|lib)\//.test(file)).sort();
}

/** Returns every static, dynamic and type import of a file. Relative imports become paths below the folder. */
function importsOf(folder: string, from: string): readonly Import[] {
  const found = readFileSync(join(folder, from), 'utf8').matchAll(
    /(?:(\btype )?(\{[^}]*\}\s*)?\bfrom\s*|\bimport\s*\(\s*|^import\s+)'([^'\n]+)'/gm,
  );
  return [...found].map(([text, types, names, to = '']) => ({
    from,
    to: to.startsWith('.') ? join(dirname(from), to) : to,
    isLazy: /^import\s*\(/.test(text),
    onlyTypes: types !== undefined || (names !== undefined && /^\{(\s*type \w+( as \w+)?,?)+\s*\}\s*$/.test(names)),
  }));
}

/** Returns every function of a file that has a body, with the number of its first line. */
function functionsIn(text: string): readonly { readonly line: number; readonly parameters: number }[] {
  const program = parse(stripTypeScriptTypes(text), { ecmaVersion: 'latest', sourceType: 'module' });
  const found: { line: number; parameters: number }[] = [];
  const add = ({ params, start }: FunctionNode) => {
    found.push({ line: text.slice(0, start).split('\n').length, parameters: params.length });
  };
  simple(program, { FunctionDeclaration: add, FunctionExpression: add, ArrowFunctionExpression: add });
  return found;
}

function isBelow(file: string, owner: string): boolean {
  const pattern = owner.split('*').map((part) => part.replaceAll('.', '\\.'));
  return new RegExp(`^${pattern.join('[^/]+')}`).test(file);
}

function mayImport(from: string, to: string): boolean {
  const room = moduleOf(from);
  if (room === undefined) return false;
  const isOwn = room.endsWith('/') && to.startsWith(room);
  return isOwn || (modules[room] ?? []).some((path) => (path.endsWith('/') ? to.startsWith(path) : to === path));
}

function circle(next: ReadonlyMap<string, readonly string[]>): string[] {
  const finished = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): string[] => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (finished.has(file)) return [];
    path.push(file);
    for (const target of next.get(file) ?? []) {
      const found = visit(target);
      if (found.length > 0) return found;
    }
    path.pop();
    finished.add(file);
    return [];
  };
  return [...next.keys()].map(visit).find((found) => found.length > 0) ?? [];
}
