/** Descriptions, instructions, errors and guidance in results use the tool names of the reader's own tool list. */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { z } from 'zod';
import { ROLES } from '../../functions/src/identity/rules/role.ts';
import { type Catalog, Catalogs } from '../../functions/src/mcp/catalog.ts';
import { guidance, guidanceIn, withGuidanceNames } from '../../functions/src/mcp/tool.ts';
import { parseSelection } from '../../functions/src/mcp/urlSelection.ts';
import { toolsets } from '../../functions/src/toolsets/index.ts';
import { entries } from './catalog.ts';

const NAMES = toolsets.map(({ name }) => name);

const ADDRESSES = [
  '/mcp',
  '/mcp?toolsets=all',
  '/mcp?toolsets=todo,coordination',
  '/mcp/network',
  ...NAMES.map((name) => `/mcp/${name}`),
].flatMap((address) => [address, address.includes('?') ? `${address}&readonly=1` : `${address}/readonly`]);

/** Tool names that consist of several words, so that an ordinary sentence cannot contain them by chance. */
const OF_WORDS = entries.filter(({ tool }) => /_|[a-z][A-Z]/.test(tool.name));
const BARE = new Set(OF_WORDS.map(({ tool }) => tool.name));
const PREFIXED = new Set(entries.map(({ toolset, tool }) => `${toolset}_${tool.name}`));
const DOTTED = new Set(entries.map(({ toolset, tool }) => `${toolset}.${tool.name}`));
const WORDS = /(?<![\w./:-])[a-z]+(?:[._]?[A-Za-z]+)+(?: \(at \/mcp\/[a-z]+\))?/g;

/** Returns the tool names that the text contains but `listed` does not. */
function unlisted(text: string, listed: ReadonlySet<string>): readonly string[] {
  return [...text.matchAll(WORDS)]
    .map(([word]) => word)
    .filter((word) => !word.endsWith(')') && !listed.has(word))
    .filter((word) => BARE.has(word) || PREFIXED.has(word) || DOTTED.has(word));
}

function catalogAt(address: string): Catalog {
  const { pathname, searchParams: query } = new URL(address, 'http://hub.test');
  const selection = parseSelection({ path: pathname, query, header: () => undefined }, NAMES);
  assert.ok(selection !== undefined, address);
  return new Catalogs(toolsets).of(selection);
}

/** Returns all descriptions of a listed tool, including the descriptions in its schemas. */
function descriptionsIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, one]) =>
    name === 'description' && typeof one === 'string' ? [one] : descriptionsIn(one),
  );
}

describe('tool names in texts', () => {
  for (const address of ADDRESSES)
    it(`are the names that the tool list at ${address} contains`, () => {
      const catalog = catalogAt(address);
      for (const role of ROLES)
        for (const kind of ['agent', 'person'] as const) {
          const { tools } = catalog.listFor({ workspace: role, owner: role, anyone: role }, kind);
          const listed = new Set(tools.map(({ name }) => name));
          const wrong = tools.flatMap((tool) => descriptionsIn(tool).flatMap((text) => unlisted(text, listed)));
          assert.deepEqual(wrong, [], `${role} ${kind}`);
        }
      const { directory, instructions, resources } = catalog;
      const callable = new Set(catalog.methods.map((name) => directory.wireName(name) ?? ''));
      const { listed, templates } = resources;
      const texts = [instructions, ...[...listed, ...templates].map(({ description }) => description)];
      const wrong = texts.flatMap((text) => unlisted(text, callable));
      assert.deepEqual(wrong, []);
      for (const name of DOTTED) {
        const text = `Call ${name}. Or ${name}: see "${name}", (${name}) or ${name} {}.`;
        assert.deepEqual(unlisted(directory.named(text), callable), [], name);
      }
    });

  it('are full names in the source code, so that they can be converted for each tool list', async () => {
    const source = new URL('../../functions/src/', import.meta.url);
    const files = await readdir(source, { recursive: true });
    const wrong: string[] = [];
    for (const file of files) {
      // Views and sign-in pages are skipped, because people read them and no tool list applies.
      if (!file.endsWith('.ts') || /views\/|page\//.test(file)) continue;
      for (const text of sentencesIn(await readFile(new URL(file, source), 'utf8')))
        wrong.push(...unlisted(text, DOTTED).map((name) => `${file}: ${name}`));
    }
    assert.deepEqual(wrong, []);
  });

  it('in results are converted only in the fields that contain guidance', () => {
    const reported = z.object({ next: guidance().optional().describe('Next'), output: z.string() });
    const plan = guidanceIn(reported.extend({ tasks: z.array(reported.partial()).optional() }));
    const text = 'Call todo.add_task.';
    assert.ok(plan !== undefined);
    const answer = { next: text, output: text, tasks: [{ next: text, output: text }, {}] };
    assert.deepEqual(withGuidanceNames(answer, plan, catalogAt('/mcp/todo').directory.named), {
      next: 'Call add_task.',
      output: text,
      tasks: [{ next: 'Call add_task.', output: text }, {}],
    });
    assert.deepEqual(withGuidanceNames({ output: text }, plan, catalogAt('/mcp').directory.named), { output: text });
  });

  it('are not invented: other words that look like a tool name stay unchanged', () => {
    const { named } = catalogAt('/mcp').directory;
    for (const text of [
      'todo.unknown_tool',
      'see example.com/todo.add_task',
      'https://todo.add_task',
      'a.todo.add_task',
      'todo.add_task.more',
      'src/todo.add_task',
    ])
      assert.equal(named(text), text);
    assert.equal(named('Call todo.add_task.'), 'Call todo_add_task.');
    const own = catalogAt('/mcp/todo').directory.named;
    assert.equal(own('todo.add_task or github.createPR'), 'add_task or github.createPR (at /mcp/github)');
    assert.equal(catalogAt('/mcp/rpc').directory.named('todo.add_task'), 'todo.add_task');
  });
});

/** Returns the string literals that contain a space, except those in comments and imports. */
function sentencesIn(source: string): readonly string[] {
  return source
    .split('\n')
    .filter((line) => !/^\s*(\*|\/\/|\/\*)|^import /.test(line))
    .flatMap((line) => line.match(/'(?:[^'\\]|\\.)*'|`[^`]*`?|"(?:[^"\\]|\\.)*"/g) ?? [])
    .filter((literal) => /\s/.test(literal));
}
