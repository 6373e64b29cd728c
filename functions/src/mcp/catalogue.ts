/** What a selection lists and finds, and the list itself. Built once per instance and selection. */

import { roleNeeded } from '../access/rules/gate.ts';
import type { Principal, rolesOf } from '../identity/rules/principal.ts';
import { hasRole, type Role } from '../identity/rules/role.ts';
import { type JsonObject, type JsonValue, jsonObject } from '../kernel/json.ts';
import type { Directory, KnownTool, RequestContext } from './callContext.ts';
import { answerOrRefusalSchema, inputJsonSchema, lightSchema, outputJsonSchema } from './jsonSchema.ts';
import { acceptedNames, type Dialect, ELSEWHERE, toolNaming, wireName } from './names.ts';
import { type Resources, resourcesOf, type ViewMeta, viewOf } from './resources.ts';
import type { EventSource, FoundTool, Tool, ToolHints, Toolset } from './tool.ts';
import { fullName } from './tool.ts';
import type { Listing, Selection } from './urlSelection.ts';

/** Clients cut instructions off, some without a word. Source: docs/semantics.md#the-endpoint. */
export const MAX_INSTRUCTIONS_LENGTH = 2000;

export interface Catalogue {
  readonly resources: Resources;
  readonly instructions: string;
  /** The tools' full names. */
  readonly methods: readonly string[];
  readonly directory: Directory;
  /** The toolsets that it is made of. */
  readonly toolsets: readonly string[];
  findTool(name: string): FoundTool | undefined;
  /** What `tools/list` shows to callers of the kind with these roles. */
  listFor(roles: CallerRoles, kind: Principal['kind']): ToolList;
}

type CallerRoles = ReturnType<typeof rolesOf>;

type Naming = Directory['named'];

/** More than the selections that a deployment can have in earnest; beyond it somebody is playing. */
const MAX_CATALOGUES = 64;

/** Keeps the catalogues that have been asked for. */
export class Catalogues {
  private readonly toolsets: readonly Toolset[];
  private readonly built = new Map<string, Catalogue>();
  private known: readonly KnownTool[] | undefined;

  constructor(toolsets: readonly Toolset[]) {
    this.toolsets = toolsets;
  }

  /** The names of all toolsets, in order. */
  get names(): readonly string[] {
    return this.toolsets.map((toolset) => toolset.name);
  }

  /** What `/mcp/events` streams. */
  get eventSource(): EventSource | undefined {
    return this.toolsets.find(({ events }) => events !== undefined)?.events;
  }

  /** @param allowed the only toolsets that the principal may use, where there is such a limit */
  of(selection: Selection, allowed?: readonly string[]): Catalogue {
    const isWhole = (name: string) => allowed === undefined || allowed.includes(name);
    const chosen = selection.toolsets.map((name) => (isWhole(name) ? name : `${name}?`));
    const key = `${selection.dialect} ${selection.listing} ${selection.readonly} ${chosen.join(',')}`;
    const known = this.built.get(key);
    if (known !== undefined) return known;
    if (this.built.size >= MAX_CATALOGUES) this.built.clear();
    const selected = this.toolsets.filter(({ name }) => selection.toolsets.includes(name));
    const whole = selected.filter(({ name }) => isWhole(name));
    const open = selected.filter(({ name }) => !isWhole(name)).flatMap(openPart);
    const built = this.build(whole, open, selection);
    this.built.set(key, built);
    return built;
  }

  /** @param open the other toolsets, with the tools alone that every credential may call */
  private build(
    toolsets: readonly Toolset[],
    open: readonly Toolset[],
    { readonly, dialect, listing }: Selection,
  ): Catalogue {
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
    const wireNames = wireNamesOf(found, dialect);
    const known = () => this.knownTools();
    const named = toolNaming(known, wireNames);
    // Made when it is first asked for: the names of all tools would be a part of every cold start.
    let instructions: string | undefined;
    return {
      resources: resourcesOf(toolsets, found, named),
      get instructions() {
        instructions ??= instructionsOf(toolsets, named);
        return instructions;
      },
      methods: [...wireNames.keys()],
      directory: {
        get tools() {
          return known();
        },
        resources: toolsets.flatMap(({ resources }) => resources.map(({ uri }) => uri)),
        wireName: (name) => wireNames.get(name),
        named,
      },
      toolsets: toolsets.map(({ name }) => name),
      findTool: (name) => byName.get(name),
      listFor: listMaker(found, listing, dialect, known),
    };
  }

  private knownTools(): readonly KnownTool[] {
    this.known ??= this.toolsets.flatMap(({ name: toolset, tools, scope: ofToolset = 'workspace' }) =>
      tools.map((tool) => ({
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
      })),
    );
    return this.known;
  }
}

/** Returns the toolset with only the tools that every credential may call; nothing if it has none. */
function openPart(toolset: Toolset): readonly Toolset[] {
  const tools = toolset.tools.filter(({ openToAll }) => openToAll);
  return tools.length === 0 ? [] : [{ ...toolset, tools }];
}

const INTRODUCTION =
  'Muster is a shared hub for agents and the people they work for. Your credential identifies you; ' +
  'errors say what to do next. Every writing tool takes idempotency_key: repeating a call with the same ' +
  'key and arguments within 24 hours returns the first result and changes nothing.';

/** A line that names a tool which this endpoint does not have, such as one that writes, is left out. */
function instructionsOf(toolsets: readonly Toolset[], named: Naming): string {
  const ofToolsets = toolsets.map(({ name, instructions }) => `${name}: ${named(instructions)}`);
  const lines = [INTRODUCTION, ...ofToolsets.filter((line) => !line.includes(ELSEWHERE))];
  return lines.join('\n').slice(0, MAX_INSTRUCTIONS_LENGTH - 1);
}

/** A tool as `tools/list` shows it. Source: MCP 2025-11-25, Tool. */
interface ListedTool extends Pick<Tool, 'name' | 'title' | 'description'> {
  readonly inputSchema: ObjectSchema;
  readonly outputSchema?: ObjectSchema;
  readonly annotations: Partial<ToolHints> & { readonly title?: string };
  /** For hosts: no model reads it. */
  readonly _meta?: ToolMeta;
}

interface ToolMeta {
  readonly ui?: ViewMeta;
  readonly [MOST_SHOWN]?: number;
}

/** Lets Claude Code show a model more of an answer than by default. Source: https://code.claude.com/docs/en/mcp */
const MOST_SHOWN = 'anthropic/maxResultSizeChars';

/** The most that may stand there. */
const MOST_CHARACTERS = 500_000;

type ObjectSchema = JsonObject & { readonly type: 'object' };

/** A list, made, serialised and encoded once. */
interface ToolList {
  readonly tools: readonly ListedTool[];
  /** `tools` as JSON. */
  readonly json: Buffer;
}

/** A list is made when it is first asked for: a call needs none, and it would be a part of every cold start. */
function listMaker(
  found: readonly FoundTool[],
  listing: Listing,
  dialect: Dialect,
  deployed: () => readonly KnownTool[],
): Catalogue['listFor'] {
  const made = new Map<string, ToolList>();
  return (roles, kind) => {
    const key = listing === 'light' ? `${roles.workspace} ${roles.owner} ${kind}` : 'whole';
    const known = made.get(key);
    if (known !== undefined) return known;
    const isListed = ({ tool, scope }: FoundTool) =>
      tool.audience === undefined && isOpenTo(roles[scope], roleNeeded(tool, kind));
    const shown = listing === 'light' ? found.filter(isListed) : found;
    const named = toolNaming(deployed, wireNamesOf(shown, dialect));
    const show = listing === 'light' ? lightTool : wholeTool;
    const tools = shown.map((one) => namedAnew(show(one, dialect), named));
    const list = { tools, json: Buffer.from(JSON.stringify(tools)) };
    made.set(key, list);
    return list;
  };
}

/** The names that an endpoint lists, by full name. */
function wireNamesOf(found: readonly FoundTool[], dialect: Dialect): ReadonlyMap<string, string> {
  return new Map(
    found.map(({ toolset, tool }) => [fullName(toolset, tool.name), wireName(toolset, tool.name, dialect)]),
  );
}

/** A listed tool whose texts name tools as the endpoint lists them. */
function namedAnew({ outputSchema, ...tool }: ListedTool, named: Naming): ListedTool {
  return {
    ...tool,
    description: named(tool.description),
    inputSchema: describedAnew(tool.inputSchema, named),
    ...(outputSchema && { outputSchema: describedAnew(outputSchema, named) }),
  };
}

/** A schema whose descriptions name tools as the endpoint lists them; what it accepts stays. */
function describedAnew(schema: ObjectSchema, named: Naming): ObjectSchema {
  const anew = (value: JsonValue | undefined, key: string): JsonValue | undefined => {
    if (key === 'description' && typeof value === 'string') return named(value);
    if (Array.isArray(value)) return value.map((one) => anew(one, '') ?? null);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, anew(one, name)]));
  };
  return { ...jsonObject.parse(anew(schema, '')), type: 'object' };
}

function isOpenTo(role: Role | undefined, least: Role): boolean {
  return role !== undefined && hasRole(role, least);
}

/** Everything that there is to say of a tool. */
function wholeTool({ toolset, tool, errors }: FoundTool, dialect: Dialect): ListedTool {
  const { title, annotations, output } = tool;
  const answer = errors ? answerOrRefusalSchema(output, errors.schema) : outputJsonSchema(output);
  return {
    name: wireName(toolset, tool.name, dialect),
    title,
    description: wholeDescription(tool),
    inputSchema: { ...inputJsonSchema(tool.input), type: 'object' },
    outputSchema: { ...answer, type: 'object' },
    annotations: { title, ...annotations },
    ...metaOf(tool),
  };
}

/** What a model needs to choose and call a tool, read in each turn; what it admits too much, the tool refuses. */
function lightTool({ toolset, tool }: FoundTool, dialect: Dialect): ListedTool {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = tool.annotations;
  return {
    name: wireName(toolset, tool.name, dialect),
    title: tool.title,
    description: tool.description,
    inputSchema: { ...lightSchema(inputJsonSchema(tool.input), tool.rare), type: 'object' },
    // The hints that clients would not assume by themselves. Source: MCP 2025-11-25, ToolAnnotations.
    annotations: {
      ...(readOnlyHint && { readOnlyHint }),
      ...(!readOnlyHint && !destructiveHint && { destructiveHint }),
      ...(!readOnlyHint && idempotentHint && { idempotentHint }),
      ...(!openWorldHint && { openWorldHint }),
    },
    ...metaOf(tool),
  };
}

function metaOf({ view, answersWhole }: Tool): { readonly _meta?: ToolMeta } {
  if (view === undefined && !answersWhole) return {};
  return {
    _meta: { ...(view && { ui: viewOf(view) }), ...(answersWhole && { [MOST_SHOWN]: MOST_CHARACTERS }) },
  };
}

export function wholeDescription({ description, details }: Pick<Tool, 'description' | 'details'>): string {
  return details === undefined ? description : `${description} ${details}`;
}

/** For whom a message is served, and over what. */
export interface RoutedRequest {
  readonly requestContext: RequestContext;
  /** What the caller is shown. */
  readonly listed: Catalogue;
  /** What the URL selects, where a call is looked up: more than `listed` for a restricted principal. */
  readonly selected: Catalogue;
}
