/** The schemas of the tools agree with the specifications, whose names and schemas are stored in contract.json. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { NETWORK_TOOLSETS } from '../../functions/src/mcp/urlSelection.ts';
import { toolsets } from '../../functions/src/toolsets/index.ts';
import { disagreements, type Schema } from './agreement.ts';
import { entries } from './catalog.ts';

interface Contract {
  readonly tools: readonly {
    readonly toolset: string;
    readonly name: string;
    readonly inputSchema: Schema;
    readonly outputSchema: Schema | null;
  }[];
  readonly resources: Readonly<Record<string, readonly string[]>>;
  readonly resourceTemplates: Readonly<Record<string, readonly string[]>>;
}

const contract: Contract = JSON.parse(readFileSync(new URL('contract.json', import.meta.url), 'utf8'));

/** Values that Muster accepts for an argument in addition to the specified values. Source: docs/semantics.md. */
const ADDED_VALUES: Readonly<Record<string, readonly string[]>> = { status_filter: ['stuck'] };

/** Values that the specification lists for the agent of `orchestrate`. Muster accepts the agents of models.json. */
const SPECIFIED_AGENTS = ['auto', 'claude', 'gemini'];

/** Returns the schema of the arguments without the values that Muster has added to the specification. */
function withoutAddedValues(name: string, input: Schema): Schema {
  if (name === 'orchestration.orchestrate') {
    const preferences = input.properties?.['preferences'];
    const agent = { ...preferences?.properties?.['agent'], enum: SPECIFIED_AGENTS };
    const opened = { ...preferences, properties: { ...preferences?.properties, agent } };
    return { ...input, properties: { ...input.properties, preferences: opened } };
  }
  if (name !== 'coordination.get_all_tasks') return input;
  const properties = Object.entries(input.properties ?? {}).map(([argument, property]) => {
    const values = Array.isArray(property['enum'])
      ? property['enum'].filter((value) => !ADDED_VALUES[argument]?.includes(value))
      : undefined;
    return [argument, values ? { ...property, enum: values } : property] as const;
  });
  return { ...input, properties: Object.fromEntries(properties) };
}

/** Returns a tool's name as the specification spells it, such as `onboarding.registerAgent` or `create_task`. */
function contractName(toolset: string, name: string): string {
  return NETWORK_TOOLSETS.includes(toolset) ? `${toolset}.${name}` : name;
}

describe('specification contract', () => {
  for (const { toolset, tool, name, input, output } of entries) {
    const written = contract.tools.find(
      (one) => one.toolset === toolset && one.name === contractName(toolset, tool.name),
    );
    if (written === undefined) continue;

    it(`matches the argument schema of ${name}`, () =>
      assert.deepEqual(disagreements(written.inputSchema, withoutAddedValues(name, input)), []));

    const { outputSchema } = written;
    if (outputSchema === null) continue;
    it(`matches the output schema of ${name}`, () => assert.deepEqual(disagreements(outputSchema, output), []));
  }

  for (const [toolset, uris] of Object.entries(contract.resources)) {
    const served = toolsets.find(({ name }) => name === toolset);
    if (served === undefined) continue;
    it(`matches the resources of the toolset ${toolset}`, () => {
      const listed = served.resources.map(({ uri }) => uri);
      assert.deepEqual(listed, uris);
    });
  }

  for (const [toolset, uriTemplates] of Object.entries(contract.resourceTemplates)) {
    const served = toolsets.find(({ name }) => name === toolset);
    if (served === undefined) continue;
    it(`matches the resource templates of the toolset ${toolset}`, () => {
      const listed = served.templates?.map(({ uriTemplate }) => uriTemplate);
      assert.deepEqual(listed, uriTemplates);
    });
  }

  it('contains every specified tool of each toolset that is implemented completely', () => {
    for (const toolset of COMPLETE_TOOLSETS) {
      const written = contract.tools.filter((tool) => tool.toolset === toolset).map((tool) => tool.name);
      const ours = entries.filter((entry) => entry.toolset === toolset);
      // Tools that Muster adds come after the tools of the specification.
      assert.deepEqual(ours.map(({ tool }) => contractName(toolset, tool.name)).slice(0, written.length), written);
    }
  });
});

/** Toolsets that implement all tools of their specification, in the order of the specification. */
const COMPLETE_TOOLSETS = [
  'firebase',
  'github',
  'onboarding',
  'system',
  'coordination',
  'todo',
  'orchestration',
  'coding',
];
