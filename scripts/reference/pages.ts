/** The reference's pages as Markdown. */
import parameters from '../../functions/src/config.json' with { type: 'json' };
import { MusterError } from '../../functions/src/kernel/errors.ts';
import { fullDescription } from '../../functions/src/mcp/catalog.ts';
import { inputJsonSchema, outputJsonSchema } from '../../functions/src/mcp/jsonSchema.ts';
import { wireName } from '../../functions/src/mcp/names.ts';
import type { Resource } from '../../functions/src/mcp/resource.ts';
import type { ErrorEnvelope, Tool, Toolset } from '../../functions/src/mcp/tool.ts';
import { toolResult } from '../../functions/src/mcp/toolResponse.ts';
import { NETWORK_TOOLSETS } from '../../functions/src/mcp/urlSelection.ts';
import { LEADER_LIST, type ListCost, listCost, SMALLER_LISTS, TOOLSET_TOKENS } from './budgets.ts';
import { codingAgentSections } from './codingAgents.ts';
import { modelSections } from './models.ts';
import { schemaRows, table, withoutMarkup } from './tables.ts';

/** Argument that has the same meaning in most tools that write data. */
const KEY = '`idempotency_key`';
const KEY_SENTENCE = ' Accepts an [`idempotency_key`](README.md#idempotency-keys).';
const GENERATED = '<!-- Generated from the definitions by `npm run reference`. -->';

/** Start of the description of the argument `workspace` that every tool accepts. */
const COMMON = 'Workspace of this call';

/** Returns the README's table of toolsets, and the paragraph about the endpoints' addresses. */
export function toolsetTable(toolsets: readonly Toolset[]): string {
  const rows = toolsets.map(({ name, instructions, tools }) => [
    `[${name}](docs/reference/${name}.md)`,
    String(tools.length),
    instructions,
  ]);
  const network = toolsets.map(({ name }) => name).filter((name) => NETWORK_TOOLSETS.includes(name));
  return `${table(['toolset', 'tools', 'purpose'], rows)}

\`/mcp\` serves every toolset and \`/mcp/<toolset>\` serves one. \`/mcp/network\` serves ${enumerated(network)}.`;
}

/** Returns names as a list in a sentence. */
export function enumerated(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

function toolTable(toolsets: readonly Toolset[]): string {
  const rows = toolsets.flatMap(({ name, tools }) =>
    tools.map((tool) => [
      `[\`${wireName(name, tool.name, 'prefixed')}\`](${name}.md#${anchor(tool.name)})`,
      firstSentence(tool.description),
      tool.agentRole === undefined ? tool.role : `${tool.role}, ${tool.agentRole} for agents`,
    ]),
  );
  return table(['tool at `/mcp`', 'description', 'minimum role'], rows);
}

export function indexPage(toolsets: readonly Toolset[]): string {
  const rows = toolsets.map(({ name, instructions, tools, resources, templates = [] }) => [
    `[${name}](${name}.md)`,
    String(tools.length),
    String(resources.length + templates.length),
    instructions,
  ]);
  return page('Tool reference', [
    table(['toolset', 'tools', 'resources', 'purpose'], rows),
    'See also [Configuration](configuration.md): the parameters of a deployment.',
    'See also [Which agents and models work](agents-and-models.md).',
    '## Idempotency keys',
    `${KEY} is a text of 1 to 200 characters. If a call is repeated with the same key and arguments within 24 hours, the first result is returned and nothing is executed again.`,
    '## Workspaces',
    "Every tool accepts `workspace`: the workspace of the call. The default is that of the URL, or the caller's home workspace. The pages list this argument only if it has another meaning.",
    ...listSection(toolsets.map(({ name }) => name)),
    '## Every tool',
    'A tool can also be called with the name `<toolset>.<tool>`. Output schemas are in `test/contract/snapshots`, and every endpoint except `/mcp` lists them.',
    toolTable(toolsets),
  ]);
}

/** Returns the section about the short tool lists and their cost. */
function listSection(names: readonly string[]): readonly string[] {
  const row = (name: string, { tools, bytes, tokens }: ListCost, max: number | undefined) => {
    return [name, String(tools), String(bytes), String(tokens), String(max)];
  };
  const rows = [
    ...names.map((name) => row(name, listCost(LEADER_LIST, name), TOOLSET_TOKENS[name])),
    ...[LEADER_LIST, ...SMALLER_LISTS].map((list) =>
      row(`\`${list.address}\`, ${list.role}`, listCost(list), list.maxTokens),
    ),
  ];
  return [
    '## Cost of the list',
    `\`/mcp\` lists the ${LEADER_LIST.maxTools} tools that agents use most, as far as the caller's role may call them. \`/mcp/worker\` lists those that a worker needs. Both lists have short input schemas and no output schemas. \`system_listSkills\` finds the other tools, and every tool can be called at both addresses. \`?toolsets=a,b\` lists all tools of the named toolsets in the same short form. A toolset's own path and \`?toolsets=all\` list everything in full. The table shows the cost of the toolsets in a leader's list at \`/mcp\`, and the cost of whole lists, with tokens counted by o200k. A test enforces the maximum.`,
    table(['toolset or list', 'tools listed', 'bytes', 'tokens', 'maximum tokens'], rows),
  ];
}

/** Returns the page about a deployment's parameters, for which `firebase deploy` asks. */
export function configurationPage(): string {
  const { strings, integers, secrets } = parameters;
  const valued = (of: Readonly<Record<string, Parameter>>) =>
    Object.entries(of).map(([name, { label, description, default: preset }]) => [
      `\`${name}\``,
      label,
      preset === undefined || preset === '' ? '' : `\`${preset}\``,
      description,
    ]);
  const secretRows = valued(secrets).map(([name = '', label = '', _none, what = '']) => [name, label, what]);
  return page('Configuration', [
    '`functions/.env` has the default values. For a deployment, `functions/.env.<project id>` overrides them; changes take effect with the next deployment. On your machine, `functions/.env.local` overrides them, and can also set secrets.',
    table(
      ['parameter', 'name', 'default', 'description'],
      [...valued(strings), ...valued(integers)].sort(([one = ''], [other = '']) => (one < other ? -1 : 1)),
    ),
    '## Secrets',
    'Secret Manager stores them: `npx firebase functions:secrets:set <name>`. If you do not have a secret, set it to `none`.',
    table(['secret', 'name', 'description'], secretRows),
  ]);
}

/** Returns the page about coding agents and models. Each half is generated from the definitions that serve it. */
export function agentsAndModelsPage(): string {
  return page('Which agents and models work', [...codingAgentSections, ...modelSections()]);
}

interface Parameter {
  readonly label: string;
  readonly description: string;
  readonly default?: string | number;
}

export function toolsetPage(toolset: Toolset): string {
  const { name, instructions, tools, resources, templates = [], errors } = toolset;
  const uris = [...resources, ...templates.map(({ uriTemplate: uri, ...listed }) => ({ uri, ...listed }))];
  return page(`${name} toolset`, [
    withoutMarkup(instructions),
    `An error has \`isError: true\` and this structured content: ${code(exampleError(errors))}`,
    ...tools.map((tool) => toolSection(name, tool)),
    ...(uris.length === 0 ? [] : [resourceSection(uris)]),
  ]);
}

function page(title: string, sections: readonly string[]): string {
  return `${[`# ${title}`, GENERATED, ...sections].join('\n\n')}\n`;
}

/** Returns an error as a client gets it. */
export function exampleError(envelope: ErrorEnvelope | undefined): unknown {
  const example = new MusterError('REQUIRED_FIELD', 'Missing required argument "agent_id".', {
    field: 'agent_id',
    reason: 'MISSING',
    suggestion: 'Give your agent ID.',
  });
  return toolResult(envelope, { error: example }).structuredContent;
}

function toolSection(toolset: string, tool: Tool): string {
  const own = wireName(toolset, tool.name, 'own');
  const prefixed = wireName(toolset, tool.name, 'prefixed');
  const names = own === prefixed ? `\`${own}\`` : `\`${own}\` at \`/mcp/${toolset}\`, \`${prefixed}\` at \`/mcp\``;
  const input = inputJsonSchema(tool.input);
  const takesKey = schemaRows(input).some(([name]) => name === KEY);
  const role = tool.agentRole === undefined ? tool.role : `${tool.role}, ${tool.agentRole} for agents`;
  const parts = [
    `## ${tool.name}`,
    withoutMarkup(fullDescription(tool)),
    `${tool.title}: ${names}. Minimum role: ${role}. ${hintsOf(tool)}${loosensOf(tool)}${takesKey ? KEY_SENTENCE : ''}`,
    argumentTable(input),
    `Returns ${fieldsOf(outputJsonSchema(tool.output))}. Example: ${code(tool.example)}`,
  ];
  return parts.join('\n\n');
}

function loosensOf({ loosens = [] }: Tool): string {
  return loosens.length === 0
    ? ''
    : ` It can loosen: ${loosens.join(', ')}. If an agent's call loosens one of these, a person must approve the call.`;
}

function hintsOf({ annotations }: Tool): string {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
  const hints = [
    readOnlyHint ? 'Read-only' : 'Writes',
    ...(destructiveHint ? ['destructive'] : []),
    ...(idempotentHint ? ['idempotent'] : []),
    ...(openWorldHint ? ['open world'] : []),
  ];
  return `${hints.join(', ')}.`;
}

function argumentTable(schema: object): string {
  const rows = schemaRows(schema).filter(([name, , , about = '']) => name !== KEY && !about.startsWith(COMMON));
  return rows.length === 0 ? 'No arguments.' : table(['argument', 'type', 'required', 'description'], rows);
}

/** Returns the fields of a result. Optional ones end in a question mark. */
function fieldsOf(schema: object): string {
  const names = schemaRows(schema)
    .filter(([name = '']) => !/[.[]/.test(name))
    .map(([name = '', _type, always]) => (always === 'yes' ? name : name.replace(/`$/, '?`')));
  return names.length === 0 ? 'nothing' : names.join(', ');
}

function resourceSection(resources: readonly Pick<Resource, 'uri' | 'mimeType' | 'description'>[]): string {
  const rows = resources.map(({ uri, mimeType, description }) => [`\`${uri}\``, mimeType, description]);
  return `## Resources\n\n${table(['URI', 'type', 'description'], rows)}`;
}

/** Returns JSON on one line between double backticks, because a text in it can contain a backtick. */
function code(value: unknown): string {
  const text = JSON.stringify(value);
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``;
}

/** Returns the anchor that GitHub gives a heading with a tool's name. */
function anchor(heading: string): string {
  return heading.toLowerCase();
}

function firstSentence(text: string): string {
  return /^.*?[.!?](?=\s|$)/s.exec(text)?.[0] ?? text;
}
