/** The tools and resources that a URL selects, and its tool lists. Each selection is built once per instance. */
import { requiredRole } from '../access/rules/permissionCheck.ts';
import type { Principal, rolesOf } from '../identity/rules/principal.ts';
import { hasRole } from '../identity/rules/role.ts';
import { type JsonObject, type JsonValue, jsonObject } from '../kernel/json.ts';
import { lazy } from '../kernel/memoCache.ts';
import type { Directory, ListedToolInfo, RequestContext } from './callContext.ts';
import { compactSchema, inputJsonSchema, outputJsonSchema, responseOrErrorSchema } from './jsonSchema.ts';
import { acceptedNames, OTHER_ENDPOINT, toolNaming, wireName } from './names.ts';
import type { FoundPrompt } from './prompt.ts';
import { type Resources, resourcesOf, viewUri } from './resources.ts';
import { type EventSource, type FoundTool, fullName, type Tool, type ToolHints, type Toolset } from './tool.ts';
import { type Dialect, type Listing, type Selection, SHORT_LISTS } from './urlSelection.ts';

/** Clients truncate longer instructions, some without notice. Source: docs/semantics.md#the-endpoint. */
export const MAX_INSTRUCTIONS_LENGTH = 2000;

export interface Catalog {
  readonly resources: Resources;
  /** Prompts by name, in the order of the toolsets. */
  readonly prompts: ReadonlyMap<string, FoundPrompt>;
  readonly instructions: string;
  /** Names of the tools at this endpoint. */
  readonly methods: readonly string[];
  readonly directory: Directory;
  readonly toolsets: readonly string[];
  findTool(name: string): FoundTool | undefined;
  /** Whether calls of any tool can become tasks. */
  readonly hasTasks: boolean;
  /** Returns the tool whose calls become tasks with ids of this form. */
  findTask(id: string): FoundTool | undefined;
  /** Returns the `tools/list` result for callers with these roles. `kind`: whether they are people or agents. */
  listFor(roles: ReturnType<typeof rolesOf>, kind: Principal['kind']): ToolList;
}

type Naming = Directory['named'];

/** Real deployments use far fewer combinations of toolsets and options. */
const MAX_CACHED_CATALOGS = 64;

export class Catalogs {
  private readonly toolsets: readonly Toolset[];
  private readonly catalogs = new Map<string, Catalog>();
  private readonly knownTools = lazy(() => this.toolsets.flatMap(listedTools));

  constructor(toolsets: readonly Toolset[]) {
    this.toolsets = toolsets;
  }

  /** Names of all toolsets, in the order of the deployment. */
  get names(): readonly string[] {
    return this.toolsets.map((toolset) => toolset.name);
  }

  /** Returns the source of the `/mcp/events` stream; undefined if no toolset has one. */
  get eventSource(): EventSource | undefined {
    return this.toolsets.find(({ events }) => events !== undefined)?.events;
  }

  /** @param allowed the toolsets to which the credential is restricted; undefined for all toolsets */
  of(selection: Selection, allowed?: readonly string[]): Catalog {
    const isWhole = (name: string) => allowed === undefined || allowed.includes(name);
    const chosen = selection.toolsets.map((name) => (isWhole(name) ? name : `${name}?`));
    const key = `${selection.dialect} ${selection.listing} ${selection.readonly} ${chosen.join(',')}`;
    const known = this.catalogs.get(key);
    if (known !== undefined) return known;
    if (this.catalogs.size >= MAX_CACHED_CATALOGS) this.catalogs.clear();
    const selected = this.toolsets.filter(({ name }) => selection.toolsets.includes(name));
    const whole = selected.filter(({ name }) => isWhole(name));
    const open = selected.filter(({ name }) => !isWhole(name)).flatMap(openToolset);
    const built = this.build(whole, open, selection);
    this.catalogs.set(key, built);
    return built;
  }

  /** @param open toolsets that the credential excludes, reduced to the tools that every credential may call */
  private build(
    toolsets: readonly Toolset[],
    open: readonly Toolset[],
    { readonly, dialect, listing: wanted }: Selection,
  ): Catalog {
    const found = [...toolsets, ...open].flatMap(({ name, tools, errors, scope: ofToolset = 'workspace' }) =>
      tools
        .filter((tool) => !readonly || tool.annotations.readOnlyHint)
        .map((tool) => ({ toolset: name, tool, errors, scope: tool.scope ?? ofToolset })),
    );
    const byName = new Map(
      found.flatMap((entry) =>
        acceptedNames(entry.toolset, entry.tool.name, dialect).map((name) => [name, entry] as const),
      ),
    );
    // A caller that cannot search for tools gets a list of all tools that it may call.
    const listing = wanted === 'short' && !byName.has('system.listSkills') ? 'light' : wanted;
    const wireNames = wireNamesOf(found, dialect);
    const tasked = found.filter(({ tool }) => tool.task !== undefined);
    const prompts = toolsets.flatMap(({ name: toolset, prompts: ofToolset = [] }) =>
      ofToolset
        .filter(({ writes }) => !(readonly && writes))
        .map((prompt) => [prompt.name, { toolset, prompt }] as const),
    );
    const { knownTools } = this;
    const named = toolNaming(knownTools, wireNames);
    // The instructions are built when first needed, because replacing tool names would slow down cold starts.
    const instructions = lazy(() => instructionsOf(toolsets, listing, named));
    return {
      resources: resourcesOf(toolsets, found, named),
      prompts: new Map(prompts),
      get instructions() {
        return instructions();
      },
      methods: [...wireNames.keys()],
      directory: {
        get tools() {
          return knownTools();
        },
        resources: toolsets.flatMap(({ resources }) => resources.map(({ uri }) => uri)),
        wireName: (name) => wireNames.get(name),
        named,
      },
      toolsets: toolsets.map(({ name }) => name),
      findTool: (name) => byName.get(name),
      hasTasks: tasked.length > 0,
      findTask: (id) => tasked.find(({ tool }) => tool.task?.ids.test(id)),
      listFor: listMaker(found, listing, dialect, knownTools),
    };
  }
}

function listedTools({ name: toolset, tools, scope: ofToolset = 'workspace' }: Toolset): readonly ListedToolInfo[] {
  return tools.map((tool) => ({
    toolset,
    fullName: fullName(toolset, tool.name),
    title: tool.title,
    description: tool.description,
    role: tool.role,
    agentRole: tool.agentRole,
    scope: tool.scope ?? ofToolset,
    writes: !tool.annotations.readOnlyHint,
    approvable: tool.approvable ?? false,
    openToAll: tool.openToAll ?? false,
    parameters: inputJsonSchema(tool.input),
    example: jsonObject.parse(tool.example),
  }));
}

/** Returns the toolset with only the tools that every credential may call; an empty list if it has none. */
function openToolset(toolset: Toolset): readonly Toolset[] {
  const tools = toolset.tools.filter(({ openToAll }) => openToAll);
  return tools.length === 0 ? [] : [{ ...toolset, tools }];
}

const INTRODUCTION =
  'Muster is a shared hub for agents and the people they work for. Errors suggest what to do next. Every writing tool ' +
  'takes idempotency_key: within 24 hours, the same key and arguments return the first result and change nothing. ' +
  'Every tool takes workspace. Lists take limit. Tools that create work take part_of: {kind: todo|task|run|pull_request, ' +
  'id}, the parent.';

const FURTHER_TOOLS = 'Find unlisted tools with system.listSkills {search: <the job>}, and call them by name.';

/** Returns the server instructions, without the lines that name a tool of another endpoint. */
function instructionsOf(toolsets: readonly Toolset[], listing: Listing, named: Naming): string {
  const workers = SHORT_LISTS.worker.map((name) => name.slice(0, name.indexOf('.')));
  const shown = listing === 'worker' ? toolsets.filter(({ name }) => workers.includes(name)) : toolsets;
  const ofToolsets = shown.map(({ name, instructions }) => `${name}: ${named(instructions)}`);
  const further = shortList(listing) === undefined ? [] : [named(FURTHER_TOOLS)];
  const lines = [INTRODUCTION, ...[...further, ...ofToolsets].filter((line) => !line.includes(OTHER_ENDPOINT))];
  return lines.join('\n').slice(0, MAX_INSTRUCTIONS_LENGTH - 1);
}

/** A tool as `tools/list` returns it. Source: MCP 2025-11-25, Tool. */
interface ListedTool extends Pick<Tool, 'name' | 'title' | 'description'> {
  readonly inputSchema: ObjectSchema;
  readonly outputSchema?: ObjectSchema;
  readonly annotations: Partial<ToolHints> & { readonly title?: string };
  /** Metadata for clients. Models do not see it. */
  readonly _meta?: JsonObject;
}

/** Metadata that raises Claude Code's limit for responses. Source: https://code.claude.com/docs/en/mcp */
const MAX_RESULT_SIZE_META = 'anthropic/maxResultSizeChars';

/** Maximum value that Claude Code accepts for `anthropic/maxResultSizeChars`. */
const MAX_RESULT_CHARACTERS = 500_000;

type ObjectSchema = JsonObject & { readonly type: 'object' };

/** A tool list that is built and serialized once. */
interface ToolList {
  readonly tools: readonly ListedTool[];
  /** `tools` as JSON in UTF-8. */
  readonly json: Buffer;
}

/** Returns a function that builds each list when it is first requested, because building slows down cold starts. */
function listMaker(
  found: readonly FoundTool[],
  listing: Listing,
  dialect: Dialect,
  deployed: () => readonly ListedToolInfo[],
): Catalog['listFor'] {
  const made = new Map<string, ToolList>();
  return (roles, kind) => {
    const key = listing === 'whole' ? listing : `${roles.workspace} ${roles.owner} ${kind}`;
    const known = made.get(key);
    if (known !== undefined) return known;
    const chosen = shortList(listing);
    const isListed = ({ toolset, tool, scope }: FoundTool) => {
      const { [scope]: role } = roles;
      const isOpen = role !== undefined && hasRole(role, requiredRole(tool, kind));
      return isOpen && (!chosen || chosen.includes(fullName(toolset, tool.name)));
    };
    const shown = listing === 'whole' ? found : found.filter(isListed);
    const named = toolNaming(deployed, wireNamesOf(shown, dialect));
    const show = listing === 'whole' ? fullTool : compactTool;
    const tools = shown.map((one) => withToolNames(show(one, dialect), named));
    const list = { tools, json: Buffer.from(JSON.stringify(tools)) };
    made.set(key, list);
    return list;
  };
}

/** Returns the full names of the tools in a short list; undefined if the listing is not one of them. */
function shortList(listing: Listing): readonly string[] | undefined {
  return listing === 'whole' || listing === 'light' ? undefined : SHORT_LISTS[listing];
}

function wireNamesOf(found: readonly FoundTool[], dialect: Dialect): ReadonlyMap<string, string> {
  return new Map(
    found.map(({ toolset, tool }) => [fullName(toolset, tool.name), wireName(toolset, tool.name, dialect)]),
  );
}

/** Returns the tool with full names in its texts replaced by the names at the endpoint. */
function withToolNames({ outputSchema, ...tool }: ListedTool, named: Naming): ListedTool {
  return {
    ...tool,
    description: named(tool.description),
    inputSchema: withDescribedNames(tool.inputSchema, named),
    ...(outputSchema && { outputSchema: withDescribedNames(outputSchema, named) }),
  };
}

function withDescribedNames(schema: ObjectSchema, named: Naming): ObjectSchema {
  const resolve = (value: JsonValue | undefined, key: string): JsonValue | undefined => {
    if (key === 'description' && typeof value === 'string') return named(value);
    if (Array.isArray(value)) return value.map((one) => resolve(one, '') ?? null);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, resolve(one, name)]));
  };
  return { ...jsonObject.parse(resolve(schema, '')), type: 'object' };
}

function fullTool({ toolset, tool, errors }: FoundTool, dialect: Dialect): ListedTool {
  const { title, annotations, output } = tool;
  const answer = errors ? responseOrErrorSchema(output, errors.schema) : outputJsonSchema(output);
  return {
    name: wireName(toolset, tool.name, dialect),
    title,
    description: fullDescription(tool),
    inputSchema: { ...inputJsonSchema(tool.input), type: 'object' },
    outputSchema: { ...answer, type: 'object' },
    annotations: { title, ...annotations },
    ...metaOf(tool),
  };
}

/** Returns a short form of a tool, to save tokens. Its schema may accept more than the tool does. */
function compactTool({ toolset, tool }: FoundTool, dialect: Dialect): ListedTool {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = tool.annotations;
  return {
    name: wireName(toolset, tool.name, dialect),
    title: tool.title,
    description: tool.description,
    inputSchema: { ...compactSchema(inputJsonSchema(tool.input), tool.rare), type: 'object' },
    // Includes only hints that differ from MCP's defaults. Source: MCP 2025-11-25, ToolAnnotations.
    annotations: {
      ...(readOnlyHint && { readOnlyHint }),
      ...(!readOnlyHint && !destructiveHint && { destructiveHint }),
      ...(!readOnlyHint && idempotentHint && { idempotentHint }),
      ...(!readOnlyHint && !openWorldHint && { openWorldHint }),
    },
    ...metaOf(tool),
  };
}

function metaOf({ view, returnsWhole }: Tool): Pick<ListedTool, '_meta'> {
  if (view === undefined && !returnsWhole) return {};
  const ofView = view !== undefined && { ui: { resourceUri: viewUri(view) } };
  return { _meta: { ...ofView, ...(returnsWhole && { [MAX_RESULT_SIZE_META]: MAX_RESULT_CHARACTERS }) } };
}

export function fullDescription({ description, details }: Pick<Tool, 'description' | 'details'>): string {
  return details === undefined ? description : `${description} ${details}`;
}

/** A request, with the tools and resources that its URL selects. */
export interface RoutedRequest {
  readonly requestContext: RequestContext;
  /** Tools and resources that the caller's credential may use. */
  readonly listed: Catalog;
  /** All tools that the URL selects. If the credential excludes a selected tool, calls of it get a specific error. */
  readonly selected: Catalog;
}
