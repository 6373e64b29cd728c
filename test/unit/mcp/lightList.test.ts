/** Tools that `tools/list` returns, depending on the caller's role and the path. */
import assert from 'node:assert/strict';
import { ROLES, type Role } from '../../../functions/src/identity/rules/role.ts';
import { Catalogs } from '../../../functions/src/mcp/catalog.ts';
import { compactSchema, inputJsonSchema } from '../../../functions/src/mcp/jsonSchema.ts';
import { wireName } from '../../../functions/src/mcp/names.ts';
import { type Listing, SHORT_LISTS } from '../../../functions/src/mcp/urlSelection.ts';
import { toolsets } from '../../../functions/src/toolsets/index.ts';
import { everywhere } from '../../support/principals.ts';

const catalogs = new Catalogs(toolsets);

const selectionOf = (listing: Listing, chosen: readonly string[]) =>
  ({ toolsets: chosen, readonly: false, workspace: undefined, dialect: 'prefixed', listing }) as const;

const catalog = (listing: Listing, chosen = catalogs.names) => catalogs.of(selectionOf(listing, chosen));

const namesFor = (role: Role, listing: Listing) =>
  catalog(listing)
    .listFor(everywhere(role), 'person')
    .tools.map(({ name }) => name);

/** Returns the tools that a role may call, or those in `chosen`, and checks that each tool can be called. */
const callableBy = (role: Role, listing: Listing, chosen?: readonly string[]) =>
  toolsets.flatMap(({ name: toolset, tools }) =>
    tools.flatMap((tool) => {
      const full = `${toolset}.${tool.name}`;
      assert.equal(catalog(listing).findTool(full)?.tool, tool, 'the tool is callable');
      const isListed = ROLES.indexOf(tool.role) <= ROLES.indexOf(role) && chosen?.includes(full) !== false;
      return isListed ? [wireName(toolset, tool.name, 'prefixed')] : [];
    }),
  );

describe('short tool list', () => {
  for (const listing of ['short', 'worker'] as const)
    it(`(${listing}) contains those of its tools that the role may call; others can be called`, () => {
      const chosen = SHORT_LISTS[listing];
      for (const role of ROLES) assert.deepEqual(namesFor(role, listing), callableBy(role, listing, chosen));
      assert.equal(namesFor('admin', listing).length, chosen.length, 'each name is that of a tool');
    });

  it('contains every tool that the role may call if the caller cannot search for tools', () => {
    const restricted = (listing: Listing) =>
      catalogs.of(selectionOf(listing, catalogs.names), ['todo']).listFor(everywhere('worker'), 'person').tools;
    assert.deepEqual(restricted('short'), restricted('light'));
    assert.ok(restricted('short').some(({ name }) => name === 'todo_delete_task'));
  });

  it('has instructions that name system_listSkills; other lists do not need them', () => {
    for (const listing of ['short', 'worker'] as const)
      assert.match(catalog(listing).instructions, /system_listSkills \{search/);
    assert.doesNotMatch(catalog('light').instructions, /listSkills/);
    assert.doesNotMatch(catalog('worker').instructions, /github/);
  });
});

describe('light tool list', () => {
  it('contains the tools that a role may call', () => {
    for (const role of ROLES) assert.deepEqual(namesFor(role, 'light'), callableBy(role, 'light'));
  });

  it('contains no output schemas, and contains a hint only if it differs from its default', () => {
    for (const tool of catalog('light').listFor(everywhere('admin'), 'person').tools) {
      assert.equal(tool.outputSchema, undefined);
      const hints = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true };
      for (const [name, value] of Object.entries(tool.annotations))
        assert.notEqual(value, Reflect.get(hints, name), `${tool.name} ${name}`);
    }
  });

  it('contains descriptions of one line', () => {
    for (const { name, description } of catalog('light').listFor(everywhere('admin'), 'person').tools)
      assert.match(description, /^[^\n]{1,280}$/, name);
  });

  it('is built once per role; the full tool list is built once for all roles', () => {
    const light = catalog('light');
    assert.equal(light.listFor(everywhere('worker'), 'person'), light.listFor(everywhere('worker'), 'person'));
    assert.notEqual(light.listFor(everywhere('worker'), 'person'), light.listFor(everywhere('viewer'), 'person'));
    assert.equal(
      catalog('whole').listFor(everywhere('worker'), 'person'),
      catalog('whole').listFor(everywhere('viewer'), 'person'),
    );
  });
});

describe('light schema of a tool', () => {
  for (const { name: toolset, tools } of toolsets)
    for (const { name, input, rare = [] } of tools)
      it(`(${toolset}.${name}) has all properties of the full schema except the rarely used ones`, () => {
        const whole = inputJsonSchema(input);
        const omitted = ['idempotency_key', 'limit', 'part_of', 'workspace', ...rare];
        const hasOthers = Object.keys(input.shape).some((one) => !omitted.includes(one));
        const left = omitted.filter((one) => hasOthers || one !== 'workspace');
        assert.deepEqual(bones(compactSchema(whole, rare)), bones(whole, left));
        for (const key of rare) assert.ok(isOptional(whole, key), `${key} is an argument and may be omitted`);
      });

  it('omits limits, patterns, and descriptions that only repeat the name of an argument', () => {
    const whole = {
      type: 'object',
      additionalProperties: false,
      properties: {
        owner: { type: 'string', pattern: '^[a-z]+$', description: 'Repository owner' },
        description: { type: 'string', maxLength: 5, description: 'What the task is about' },
        pattern: { type: 'array', minItems: 1, items: { type: 'string', minLength: 1 } },
        data: { type: 'object', additionalProperties: true, anyOf: [{ type: 'object' }, { type: 'null' }] },
        any: {},
        many: { anyOf: [{ type: 'string', minLength: 1 }, { type: 'integer' }] },
        nothing: { type: 'object', additionalProperties: false, properties: {} },
        times: { type: 'object', additionalProperties: { type: 'number', minimum: 0 } },
        idempotency_key: { type: 'string', description: 'One two three four five' },
      },
      required: ['owner'],
    };
    assert.deepEqual(compactSchema(whole), {
      type: 'object',
      properties: {
        owner: { type: 'string' },
        description: { type: 'string', description: 'What the task is about' },
        pattern: { type: 'array', items: { type: 'string' } },
        data: { type: 'object', additionalProperties: true },
        any: {},
        many: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
        nothing: { type: 'object', additionalProperties: false, properties: {} },
        times: { type: 'object', additionalProperties: { type: 'number' } },
      },
      required: ['owner'],
    });
  });
});

const BONES = ['type', 'enum', 'const', 'default', 'format', 'required'];

/** Reduces a schema to the parts that full and light schemas have in common. */
function bones(schema: unknown, omitted: readonly string[] = []): unknown {
  if (typeof schema !== 'object' || schema === null) return schema;
  const { properties = {}, items, anyOf = [], ...rest } = schema as Record<string, unknown>;
  const within = (value: unknown): unknown => bones(value, omitted);
  const listed = Object.entries(properties as object).filter(([name]) => !omitted.includes(name));
  return {
    ...Object.fromEntries(
      Object.entries(rest).filter(
        ([keyword, value]) => BONES.includes(keyword) && !(keyword === 'default' && value === false),
      ),
    ),
    properties: listed.map(([name, value]) => [name, within(value)]),
    items: within(items),
    anyOf: rest['type'] === undefined ? (anyOf as unknown[]).map(within) : [],
  };
}

/** Returns whether the property exists in the schema and is optional wherever it occurs. */
function isOptional(schema: unknown, name: string): boolean {
  const exists = JSON.stringify(schema).includes(`"${name}":`);
  const requires = (value: unknown): boolean =>
    typeof value === 'object' &&
    value !== null &&
    ((Array.isArray((value as { required?: unknown }).required) &&
      (value as { required: unknown[] }).required.includes(name)) ||
      Object.values(value).some(requires));
  return exists && !requires(schema);
}
