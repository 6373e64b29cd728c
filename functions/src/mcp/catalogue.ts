/** What a selection lists and finds. Built once per instance and selection, not per request. */
import type { JsonObject } from '../domain/json.ts';
import { answerOrRefusalSchema, inputJsonSchema, outputJsonSchema } from './json-schema.ts';
import { acceptedNames, type Dialect, wireName } from './names.ts';
import { envelopeSchema } from './projection.ts';
import type { Selection } from './selection.ts';
import type { Resource, Tool, ToolHints, Toolset } from './tool.ts';

/** Clients cut instructions off, some without a word. Source: design, section 2. */
export const MAX_INSTRUCTIONS_LENGTH = 2000;

/** A tool as `tools/list` shows it. Source: MCP 2025-11-25, Tool. */
export interface ListedTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonObject & { readonly type: 'object' };
  readonly outputSchema: JsonObject & { readonly type: 'object' };
  readonly annotations: ToolHints & { readonly title: string };
}

export interface FoundTool {
  readonly toolset: string;
  readonly tool: Tool;
}

export interface FoundResource {
  readonly toolset: string;
  readonly resource: Resource;
}

export interface Catalogue {
  readonly tools: readonly ListedTool[];
  /** `tools` as JSON. */
  readonly toolsJson: string;
  readonly resources: readonly Omit<Resource, 'role' | 'read'>[];
  readonly instructions: string;
  findTool(name: string): FoundTool | undefined;
  findResource(uri: string): FoundResource | undefined;
}

/** Keeps the catalogues that have been asked for. */
export class Catalogues {
  readonly #toolsets: readonly Toolset[];
  readonly #built = new Map<string, Catalogue>();
  readonly #schemas = new Map<Tool, Pick<ListedTool, 'inputSchema' | 'outputSchema'>>();

  constructor(toolsets: readonly Toolset[]) {
    this.#toolsets = toolsets;
  }

  /** The names of all toolsets, in order. */
  get names(): readonly string[] {
    return this.#toolsets.map((toolset) => toolset.name);
  }

  /** @param allowed the only toolsets that the principal may use, where there is such a limit */
  of(selection: Selection, allowed?: readonly string[]): Catalogue {
    const chosen = selection.toolsets.filter((name) => allowed === undefined || allowed.includes(name));
    const key = `${selection.dialect} ${selection.readonly} ${chosen.join(',')}`;
    const known = this.#built.get(key);
    if (known !== undefined) return known;
    if (this.#built.size >= MAX_CATALOGUES) this.#built.clear();
    const built = this.#build(
      this.#toolsets.filter((toolset) => chosen.includes(toolset.name)),
      selection.readonly,
      selection.dialect,
    );
    this.#built.set(key, built);
    return built;
  }

  #build(toolsets: readonly Toolset[], readonly: boolean, dialect: Dialect): Catalogue {
    const found = toolsets.flatMap(({ name, tools }) =>
      tools
        .filter((tool) => !readonly || tool.annotations.readOnlyHint)
        .map((tool) => ({ toolset: name, tool })),
    );
    const resources = toolsets.flatMap(({ name, resources }) =>
      resources.map((resource) => ({ toolset: name, resource })),
    );
    const byName = new Map(
      found.flatMap((entry) =>
        acceptedNames(entry.toolset, entry.tool.name, dialect).map((name) => [name, entry] as const),
      ),
    );
    const byUri = new Map(resources.map((entry) => [entry.resource.uri, entry]));
    // Made when first asked for: a call needs none of it, and the schemas would be a part of every cold start.
    let tools: readonly ListedTool[] | undefined;
    let toolsJson: string | undefined;
    const list = () => {
      tools ??= found.map(({ toolset, tool }) => this.#listed(toolset, tool, dialect));
      return tools;
    };
    return {
      get tools() {
        return list();
      },
      get toolsJson() {
        toolsJson ??= JSON.stringify(list());
        return toolsJson;
      },
      resources: resources.map(({ resource: { role: _role, read: _read, ...listed } }) => listed),
      instructions: instructionsOf(toolsets),
      findTool: (name) => byName.get(name),
      findResource: (uri) => byUri.get(uri),
    };
  }

  #listed(toolset: string, tool: Tool, dialect: Dialect): ListedTool {
    const { title, description, annotations } = tool;
    const name = wireName(toolset, tool.name, dialect);
    return {
      name,
      title,
      description,
      ...this.#schemasOf(toolset, tool),
      annotations: { title, ...annotations },
    };
  }

  #schemasOf(toolset: string, tool: Tool): Pick<ListedTool, 'inputSchema' | 'outputSchema'> {
    const known = this.#schemas.get(tool);
    if (known !== undefined) return known;
    const refusal = envelopeSchema(toolset);
    const output =
      refusal === undefined ? outputJsonSchema(tool.output) : answerOrRefusalSchema(tool.output, refusal);
    const made = {
      inputSchema: { ...inputJsonSchema(tool.input), type: 'object' as const },
      outputSchema: { ...output, type: 'object' as const },
    };
    this.#schemas.set(tool, made);
    return made;
  }
}

/** More than the selections that a deployment can have in earnest; beyond it somebody is playing. */
const MAX_CATALOGUES = 64;

const INTRODUCTION =
  'Muster is where agents and the people they work for share work. Your credential says who you are; ' +
  'an error says what to do next.';

function instructionsOf(toolsets: readonly Toolset[]): string {
  const lines = [INTRODUCTION, ...toolsets.map(({ name, instructions }) => `${name}: ${instructions}`)];
  return lines.join('\n').slice(0, MAX_INSTRUCTIONS_LENGTH - 1);
}
