/**
 * Frameworks and vendors must accept the tool list at every address in docs/guides/clients.md. The test uses the
 * official converters of the frameworks, and the JSON Schema subsets that the vendors document.
 */
import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { wireName } from '../../../functions/src/mcp/names.ts';
import { toolsets } from '../../../functions/src/toolsets/index.ts';
import type { Schema } from '../../contract/agreement.ts';
import { everyList, type Listed, placesIn } from '../../support/lists.ts';
import {
  adkFunction,
  type GeminiSchema,
  genkitFunction,
  langChainTools,
  openAiAgentsTool,
  type Sent,
} from './packages.ts';

/** Example arguments, with two keys for each tool: its full name, and the endpoint's path with its short name. */
const EXAMPLES = new Map(
  toolsets.flatMap(({ name: toolset, tools }) =>
    tools.flatMap(({ name, example }): [string, object][] => [
      [`/mcp/${toolset} ${wireName(toolset, name, 'own')}`, example],
      [wireName(toolset, name, 'prefixed'), example],
    ]),
  ),
);

const lists = everyList();

for (const { title, address, tools } of lists)
  describe(`the tool list ${title}`, () => {
    it('converts to the strict mode of OpenAI Agents, except for tools that accept any object', () => {
      for (const tool of tools) {
        const { strict, parameters } = openAiAgentsTool(tool);
        const isOpen = placesIn(tool.inputSchema, tool.name).some(
          ({ schema }) => schema.type === 'object' && !('properties' in schema),
        );
        assert.equal(strict, !isOpen, tool.name);
        if (strict) assert.deepEqual(openAiFaults({ ...parameters }, tool.name), []);
      }
    });

    it('has tools that OpenAI Agents calls without nulls for arguments that the model omits', async () => {
      for (const tool of tools) {
        const sent: Sent[] = [];
        const { strict, call } = openAiAgentsTool(tool, sent);
        if (!strict) continue;
        const example = exampleOf(tool, address);
        const others = Object.keys(tool.inputSchema.properties ?? {}).map((name) => [name, null]);
        await call({ ...Object.fromEntries(others), ...example });
        assert.deepEqual(sent, [{ name: tool.name, args: example }], tool.name);
      }
    });

    it("can be converted to Gemini's schemas by Genkit and the Agent Development Kit", () => {
      for (const tool of tools)
        for (const [by, convert] of Object.entries({ genkitFunction, adkFunction })) {
          const { name, parameters } = convert(tool);
          assert.match(name, /^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$/);
          assert.deepEqual(geminiFaults(parameters, `${tool.name} by ${by}`), []);
          for (const required of tool.inputSchema.required ?? [])
            assert.ok(parameters.properties?.[required]?.type ?? parameters.properties?.[required]?.anyOf);
        }
    });

    it('can be called through LangChain, which validates the arguments before it sends them', async () => {
      const sent: Sent[] = [];
      const made = await langChainTools(tools, sent);
      const names = made.map(({ name }) => name);
      const expected = tools.map(({ name }) => name);
      assert.deepEqual(names, expected);
      for (const [at, tool] of tools.entries()) {
        await made[at]?.invoke(exampleOf(tool, address));
        const { name, args } = sent.at(-1) ?? assert.fail(tool.name);
        assert.equal(name, tool.name);
        for (const [argument, value] of Object.entries(exampleOf(tool, address)))
          assert.deepEqual(args[argument], value, `${name} ${argument}`);
      }
    });

    it('conforms to the rules of Anthropic and OpenAI for tool names and schemas', () => {
      const ajv = new Ajv2020({ strict: false, validateFormats: false });
      const names = tools.map(({ name }) => name);
      assert.equal(new Set(names).size, names.length);
      for (const { name, inputSchema } of tools) {
        assert.match(name, /^[a-zA-Z0-9_-]{1,64}$/);
        assert.doesNotThrow(() => ajv.compile(inputSchema), name);
        // Source: https://docs.claude.com/en/docs/agents-and-tools/tool-use/overview
        assert.equal(inputSchema.type, 'object');
        for (const keyword of ['anyOf', 'oneOf', 'allOf', 'enum', 'not']) assert.ok(!(keyword in inputSchema));
        for (const { path, schema } of placesIn(inputSchema, name))
          for (const property of Object.keys(schema.properties ?? {}))
            assert.match(property, /^[a-zA-Z0-9_.-]{1,64}$/, path);
      }
    });

    if (!tools.some(({ name }) => name.endsWith('orchestrate_workflow'))) return;
    it('has a tool that accepts a workflow as a name or as the JSON text of its definition', async () => {
      const sent: Sent[] = [];
      const made = await langChainTools(tools, sent);
      const tool = made.find(({ name }) => name.endsWith('orchestrate_workflow'));
      for (const workflow of ['code-review', '{"name":"one","steps":[{"agent":"claude"}]}']) {
        await tool?.invoke({ workflow, input: 'Count' });
        assert.equal(sent.at(-1)?.args['workflow'], workflow);
      }
    });
  });

function exampleOf({ name, inputSchema }: Listed, address: string): Readonly<Record<string, unknown>> {
  const listed = Object.keys(inputSchema.properties ?? {});
  const path = address.replace(/\/readonly$|[?].*/, '');
  const example = EXAMPLES.get(`${path} ${name}`) ?? EXAMPLES.get(name) ?? assert.fail(name);
  return Object.fromEntries(Object.entries(example).filter(([argument]) => listed.includes(argument)));
}

const GEMINI_TYPES: readonly unknown[] = ['STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT', 'NULL'];

/** Type of list items in the Agent Development Kit's schema if an item may be any JSON value. */
const ANY = 'TYPE_UNSPECIFIED';

/** Returns the parts that Gemini rejects. Source: https://ai.google.dev/api/caching#Schema; n8n-io/n8n#15553 */
function geminiFaults(schema: GeminiSchema, path: string): readonly string[] {
  const { type, anyOf = [], properties = {}, required = [], items, enum: values } = schema;
  const isTyped =
    anyOf.length > 0 ? type === undefined : GEMINI_TYPES.includes(type) || (type === ANY && path.endsWith('/items'));
  return [
    ...(isTyped ? [] : [`${path}: the type is ${JSON.stringify(type)}`]),
    ...required.filter((name) => !(name in properties)).map((name) => `${path}: ${name} is required only`),
    ...(required.length > 0 && type !== 'OBJECT' ? [`${path}: required of ${type}`] : []),
    ...(Object.keys(properties).length > 0 && type !== 'OBJECT' ? [`${path}: properties of ${type}`] : []),
    ...(type === 'ARRAY' && items === undefined ? [`${path}: no items`] : []),
    ...(values !== undefined && (type !== 'STRING' || values.includes('')) ? [`${path}: enum of ${type}`] : []),
    ...Object.entries(properties).flatMap(([name, part]) => geminiFaults(part, `${path}/${name}`)),
    ...anyOf.flatMap((part, at) => geminiFaults(part, `${path}/anyOf/${at}`)),
    ...(items ? geminiFaults(items, `${path}/items`) : []),
  ];
}

const OPENAI_FORMATS: readonly unknown[] = [
  ...['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'],
];

/** Returns the parts that strict mode rejects. Source: https://platform.openai.com/docs/guides/structured-outputs */
function openAiFaults(parameters: Schema, path: string): readonly string[] {
  const places = placesIn(parameters, path);
  return places.flatMap(({ path: here, schema }) => {
    const { type, properties, required = [], anyOf, format } = schema;
    const values = [schema['enum'] ?? []].flat();
    const depth = here.split('/').length - path.split('/').length;
    return [
      ...(type === undefined && anyOf === undefined && values.length === 0 ? [`${here}: no type`] : []),
      ...(type === 'object' && schema['additionalProperties'] !== false ? [`${here}: open`] : []),
      ...Object.keys(properties ?? {})
        .filter((name) => !required.includes(name))
        .map((name) => `${here}/${name}: optional`),
      ...(format !== undefined && !OPENAI_FORMATS.includes(format) ? [`${here}: format ${format}`] : []),
      ...(values.length > 1000 ? [`${here}: ${values.length} values`] : []),
      ...(depth > 20 ? [`${here}: too deep`] : []),
    ];
  });
}
