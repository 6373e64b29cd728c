/** Schemas in tool lists are readable for every client. Source: docs/semantics.md#the-endpoint. */
import assert from 'node:assert/strict';
import { wireName } from '../../functions/src/mcp/names.ts';
import { everyList, type Listed, type Place, placesIn } from '../support/lists.ts';

const lists = everyList();

/** JSON Schema keywords that all clients support. Before you add another keyword, test it with each client. */
const KNOWN_KEYWORDS: readonly string[] = [
  ...['type', 'properties', 'required', 'additionalProperties', 'items', 'anyOf', 'enum', 'const'],
  ...['default', 'description', 'format', 'pattern', 'minimum', 'maximum', 'exclusiveMinimum'],
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'propertyNames'],
];

function places(tools: readonly Listed[], which: 'inputs' | 'all'): readonly Place[] {
  return tools.flatMap(({ name, inputSchema, outputSchema }) => [
    ...placesIn(inputSchema, `${name} takes`),
    ...(which === 'all' && outputSchema ? placesIn(outputSchema, `${name} returns`) : []),
  ]);
}

const paths = (found: readonly Place[]): readonly string[] => found.map(({ path }) => path);

const isObject = ({ schema }: Place) => schema.type === 'object';

it('the full and the light tool lists together contain every tool', () => {
  const names = new Set(lists.flatMap(({ tools }) => tools.map(({ name }) => name)));
  for (const name of ['firebase_write', 'todo_add_task', 'add_task', 'access_whoami', 'setBudget'])
    assert.ok(names.has(name) || name === 'setBudget', name);
  assert.ok(lists.length > 30, `${lists.length}`);
});

/** Tools whose results may be larger than the default limit. Clients truncate larger results of other tools. */
const ANSWER_WHOLE = [
  ...['coding.claim_task', 'coding.report_task', 'coordination.claim_task', 'coordination.get_all_tasks'],
  ...['coordination.get_results', 'firebase.pollEvents', 'firebase.read', 'firebase.subscribe'],
  ...['orchestration.execute_code', 'orchestration.execute_task', 'orchestration.get_run'],
  ...['orchestration.list_workflows', 'orchestration.orchestrate', 'orchestration.orchestrate_parallel'],
  ...['orchestration.orchestrate_workflow', 'system.getAudit'],
].flatMap((full) => {
  const [toolset = '', name = ''] = full.split('.');
  return [wireName(toolset, name, 'prefixed'), `/mcp/${toolset} ${name}`];
});

for (const { title, address, tools } of lists)
  describe(title, () => {
    it('marks exactly those tools whose results may exceed the default limit of clients', () => {
      for (const { name, _meta: meta } of tools)
        assert.equal(
          meta?.['anthropic/maxResultSizeChars'],
          ANSWER_WHOLE.includes(`${address.replace('/readonly', '')} ${name}`) || ANSWER_WHOLE.includes(name)
            ? 500_000
            : undefined,
          name,
        );
    });

    const inputs = places(tools, 'inputs');
    const all = places(tools, 'all');

    it('has no references and no keywords that some clients do not support', () => {
      const unknown = all.flatMap(({ path, schema }) =>
        Object.keys(schema)
          .filter((keyword) => !KNOWN_KEYWORDS.includes(keyword))
          .map((keyword) => `${path}: ${keyword}`),
      );
      assert.deepEqual(unknown, []);
      assert.doesNotMatch(JSON.stringify(tools), /"\$(ref|defs|schema|dynamicRef|anchor)"/);
    });

    it('never has a list of types as a value of the keyword "type"', () =>
      assert.deepEqual(paths(all.filter(({ schema }) => Array.isArray(schema.type))), []));

    it('has exactly one plain type for each required argument', () => {
      assert.deepEqual(paths(inputs.filter(({ required, schema }) => required && typeof schema.type !== 'string')), []);
      for (const { path, schema } of inputs)
        for (const name of schema.required ?? [])
          assert.ok(name in (schema.properties ?? {}), `${path} requires ${name} and does not list it`);
    });

    it('has at least one type for each argument', () => {
      const untyped = inputs.filter(
        ({ required, optional, schema }) => (required || optional) && !schema.type && !schema.anyOf,
      );
      assert.deepEqual(paths(untyped), []);
    });

    it('describes the properties of each object and the items of each array', () => {
      const vague = all.filter(
        (place) => isObject(place) && !('properties' in place.schema) && !('additionalProperties' in place.schema),
      );
      assert.deepEqual(paths(vague), []);
      assert.deepEqual(paths(all.filter(({ schema }) => schema.type === 'array' && !schema.items)), []);
    });

    it('allows additional properties in free-form objects, and forbids them in tools without arguments', () => {
      const open = inputs.filter((place) => isObject(place) && !('properties' in place.schema));
      for (const { path, schema } of open) {
        const { additionalProperties: others } = schema;
        assert.ok(others === true || (typeof others === 'object' && others !== null), path);
        assert.notDeepEqual(others, {}, path);
      }
      for (const { name, inputSchema } of tools)
        if (Object.keys(inputSchema.properties ?? {}).length === 0)
          assert.equal(inputSchema['additionalProperties'], false, name);
    });

    it('has no optional argument that accepts null', () =>
      assert.deepEqual(paths(inputs.filter(({ optional, schema }) => optional && admitsNull(schema))), []));
  });

function admitsNull({ type, anyOf = [], ...rest }: Listed['inputSchema'] | Place['schema']): boolean {
  const values = [rest['const'], rest['enum'], rest['default']].flat();
  return type === 'null' || values.includes(null) || anyOf.some((one) => admitsNull(one));
}
