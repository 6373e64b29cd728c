/** Holds the arrows of docs/architecture.md: they only point down. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Layer, layerOf, layers, packageOwners } from './layers.ts';

const source = fileURLToPath(new URL('../../../functions/src', import.meta.url));

interface Import {
  readonly from: string;
  readonly to: string;
}

const files = globSync('**/*.ts', { cwd: source }).sort();

/** Every static, dynamic and type import, relative ones as paths below functions/src. */
const imports: readonly Import[] = files.flatMap((from) => {
  const text = readFileSync(join(source, from), 'utf8');
  const found = text.matchAll(/(?:\bfrom\s*|\bimport\s*\(\s*|^import\s+)'([^'\n]+)'/gm);
  return [...found].map(([, to]) => ({
    from,
    to: to?.startsWith('.') ? join(dirname(from), to) : (to ?? ''),
  }));
});

const inside = imports.filter(({ to }) => files.includes(to));
const packages = imports.filter(({ to }) => !files.includes(to));

const show = (broken: readonly Import[]): string =>
  broken.map(({ from, to }) => `${from} imports ${to}`).join('\n');

describe('architecture', () => {
  it('covers every folder and file of functions/src', () => {
    assert.deepEqual(
      files.filter((file) => layerOf(file) === undefined),
      [],
      'add the folder to test/unit/architecture/layers.ts and its import rules to biome.json',
    );
    assert.ok(files.length > 50);
    assert.ok(imports.length > files.length);
  });

  it('reads every import, so that none escapes the rules', () => {
    const unresolved = imports.filter(({ to }) => to.endsWith('.ts') && !files.includes(to));
    assert.equal(show(unresolved), '');
  });

  it('lets imports point down only', () => {
    const broken = inside.filter(({ from, to }) => !mayImport(from, to));
    assert.equal(show(broken), '');
  });

  it('keeps each package in the folders that own it', () => {
    const broken = packages.filter(({ from, to }) => {
      const owners = Object.entries(packageOwners).find(
        ([name]) => to === name || to.startsWith(`${name}/`),
      )?.[1];
      return owners === undefined || !owners.some((owner) => from.startsWith(owner));
    });
    assert.equal(show(broken), '');
  });

  it('has no tool that imports a tool, and no toolset that imports a toolset', () => {
    const tools = files.filter((file) => readFileSync(join(source, file), 'utf8').includes('= defineTool('));
    const broken = inside.filter(({ from, to }) => {
      const toolset = (path: string): string => relative('toolsets', path).split('/')[0] ?? '';
      const between =
        from.startsWith('toolsets/') && to.startsWith('toolsets/') && toolset(from) !== toolset(to);
      return (tools.includes(from) && tools.includes(to)) || (between && from !== 'toolsets/index.ts');
    });
    assert.equal(show(broken), '');
  });

  it('has no circle of files', () => {
    const next = new Map(
      files.map((file) => [file, inside.filter(({ from }) => from === file).map(({ to }) => to)]),
    );
    assert.deepEqual(circle(next), []);
  });

  it('keeps files and entries short', () => {
    const long = files.filter((file) => {
      const lines = readFileSync(join(source, file), 'utf8').split('\n').length;
      return lines > (file.startsWith('entry/') ? 41 : 250);
    });
    assert.deepEqual(long, []);
  });

  it('has the same rules in biome.json, where editors see them', () => {
    const { overrides } = JSON.parse(readFileSync(join(source, '../../biome.json'), 'utf8'));
    const covered: string[] = overrides.flatMap((override: { includes: string[] }) => override.includes);
    for (const path of Object.keys(layers)) {
      const include = path.endsWith('.ts') ? `functions/src/${path}` : `functions/src/${path}**`;
      assert.ok(path === 'version.ts' || covered.includes(include), `biome.json has no rules for ${include}`);
    }
  });
});

function mayImport(from: string, to: string): boolean {
  const layer: Layer | undefined = layerOf(from);
  const own = Object.keys(layers).find((path) => from.startsWith(path) && path.endsWith('/'));
  return (
    layer !== undefined &&
    ((own !== undefined && to.startsWith(own)) || layer.some((path) => to.startsWith(path)))
  );
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
