/** Requirements on every tool. Source: docs/semantics.md#the-endpoint; CONTRIBUTING.md#add-a-tool. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { Catalogs, MAX_INSTRUCTIONS_LENGTH } from '../../functions/src/mcp/catalog.ts';
import { MAX_NAME_LENGTH, wireName } from '../../functions/src/mcp/names.ts';
import { toolsets } from '../../functions/src/toolsets/index.ts';
import { propertiesOf } from './agreement.ts';
import { entries } from './catalog.ts';

const folder = new URL('../../functions/src/toolsets/', import.meta.url);

describe('tool catalogue', () => {
  it('has one toolset for each folder below functions/src/toolsets', () => {
    const folders = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    assert.deepEqual(folders.map(({ name }) => name).sort(), toolsets.map(({ name }) => name).sort());
  });

  it('lists every tool that a file in the folder "tools" of a toolset exports', async () => {
    for (const { name, tools } of toolsets) {
      const exported = new Set<unknown>();
      for (const file of readdirSync(new URL(`${name}/tools/`, folder))) {
        const module: object = await import(new URL(`${name}/tools/${file}`, folder).href);
        for (const tool of Object.values(module).filter(isTool)) exported.add(tool);
      }
      assert.deepEqual(new Set(tools), exported, `${name}/index.ts does not list what its folder exports`);
    }
  });

  for (const dialect of ['own', 'prefixed'] as const)
    it(`gives every tool a short and unique name that all clients accept (${dialect})`, () => {
      const names = entries.map(({ toolset, tool }) => wireName(toolset, tool.name, dialect));
      for (const name of names) assert.match(name, new RegExp(`^[A-Za-z0-9_]{1,${MAX_NAME_LENGTH}}$`));
      if (dialect === 'prefixed') assert.equal(new Set(names).size, names.length);
    });

  for (const listing of ['short', 'worker', 'light'] as const)
    it(`has instructions that are shorter than the limit of clients (${listing})`, () => {
      const selection = { toolsets: toolsets.map(({ name }) => name), readonly: false, workspace: undefined };
      const { instructions, directory } = new Catalogs(toolsets).of({ ...selection, dialect: 'prefixed', listing });
      assert.ok(instructions.length < MAX_INSTRUCTIONS_LENGTH);
      const last = toolsets.at(-1);
      assert.ok(
        last !== undefined && instructions.endsWith(directory.named(last.instructions)),
        'the last toolset is truncated',
      );
    });

  it('gives each resource a unique URI, a description and the role viewer', () => {
    const resources = toolsets.flatMap((toolset) => toolset.resources);
    assert.equal(new Set(resources.map(({ uri }) => uri)).size, resources.length);
    const templates = toolsets.flatMap((toolset) => toolset.templates ?? []);
    assert.equal(new Set(templates.map(({ uriTemplate }) => uriTemplate)).size, templates.length);
    for (const { role, description } of [...resources, ...templates]) {
      assert.equal(role, 'viewer');
      assert.notEqual(description, '');
    }
  });
});

for (const { name, tool, input, output } of entries)
  describe(name, () => {
    it('has a title, a description and a value for all four hints', () => {
      assert.notEqual(tool.title.trim(), '');
      assert.notEqual(tool.description.trim(), '');
      const hints = ['destructiveHint', 'idempotentHint', 'openWorldHint', 'readOnlyHint'];
      assert.deepEqual(Object.keys(tool.annotations).sort(), hints);
      for (const hint of Object.values(tool.annotations)) assert.equal(typeof hint, 'boolean');
    });

    it('requires only the role viewer if it reads, or the role worker if it reads from GitHub', () => {
      const { readOnlyHint, destructiveHint } = tool.annotations;
      if (!readOnlyHint) return;
      assert.equal(tool.role, name.startsWith('github.') ? 'worker' : 'viewer');
      assert.equal(destructiveHint, false);
    });

    it('accepts an idempotency key if it writes, and none if it only reads', () =>
      assert.equal('idempotency_key' in tool.input.shape, !tool.annotations.readOnlyHint));

    it('has a description for each of its arguments', () => {
      const bare = propertiesOf(input).filter(([, { description }]) => (description ?? '').trim() === '');
      const missing = bare.map(([path]) => path);
      assert.deepEqual(missing, []);
    });

    it('rejects arguments that its schema does not define', () => {
      assert.equal(input['additionalProperties'], false);
      for (const [path, property] of propertiesOf(input))
        if (property.properties !== undefined) assert.equal(property['additionalProperties'], false, path);
    });

    it('describes the expected form of each text in words, not by a regular expression', () => {
      const example = { ...tool.example, workspace: 'alpha' };
      for (const at of Array(JSON.stringify(example).length).keys()) {
        let texts = 0;
        const given = JSON.parse(JSON.stringify(example), (_key, value) =>
          typeof value === 'string' && texts++ === at ? '/ \t' : value,
        );
        if (texts <= at) break;
        assert.doesNotMatch(
          errorOf(() => tool.prepare(given)),
          /match pattern|\^\[/,
        );
      }
    });

    it('has an example call that its schema and its validation accept', () => {
      assert.doesNotThrow(() => tool.prepare(tool.example));
      for (const ajv of [new Ajv2020({ strict: false }), new Ajv({ strict: false })]) {
        const validate = ajv.addFormat('date-time', true).addFormat('uri', true).compile(input);
        assert.ok(validate(tool.example), ajv.errorsText(validate.errors));
        ajv.compile(output);
      }
    });
  });

/** Returns the message of the error that `act` throws; empty if it throws none. */
function errorOf(act: () => unknown): string {
  try {
    act();
    return '';
  } catch (error) {
    return String(error);
  }
}

function isTool(value: unknown): value is { readonly name: string } {
  return typeof value === 'object' && value !== null && 'prepare' in value;
}
