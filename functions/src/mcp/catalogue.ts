/** What a selection lists and finds. Built once per instance and selection, not per request. */
import { type JsonObject, jsonObject } from '../domain/json.ts';
import { answerOrRefusalSchema, inputJsonSchema, outputJsonSchema } from './json-schema.ts';
import { acceptedNames, type Dialect, fullName, wireName } from './names.ts';
import { envelopeSchema } from './projection.ts';
import { type Resources, resourcesOf } from './resources.ts';
import type { Selection } from './selection.ts';
import type { Directory, KnownTool, Tool, ToolHints, Toolset } from './tool.ts';

/** Clients cut instructions off, some without a word. Source: docs/semantics.md#the-endpoint. */
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

export interface Catalogue {
  readonly tools: readonly ListedTool[];
  /** `tools` as JSON. */
  readonly toolsJson: Buffer;
  readonly resources: Resources;
  readonly instructions: string;
  /** The tools' full names. */
  readonly methods: readonly string[];
  readonly directory: Directory;
  /** The toolsets that it is made of. */
  readonly toolsets: readonly string[];
  findTool(name: string): FoundTool | undefined;
}

/** Keeps the catalogues that have been asked for. */
export class Catalogues {
  readonly #toolsets: readonly Toolset[];
  readonly #built = new Map<string, Catalogue>();
  #known: readonly KnownTool[] | undefined;
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
    const byName = new Map(
      found.flatMap((entry) =>
        acceptedNames(entry.toolset, entry.tool.name, dialect).map((name) => [name, entry] as const),
      ),
    );
    // Made when first asked for: a call needs none of it, and the schemas would be a part of every cold start.
    let tools: readonly ListedTool[] | undefined;
    let toolsJson: Buffer | undefined;
    const list = () => {
      tools ??= found.map(({ toolset, tool }) => this.#listed(toolset, tool, dialect));
      return tools;
    };
    return {
      get tools() {
        return list();
      },
      get toolsJson() {
        toolsJson ??= Buffer.from(JSON.stringify(list()));
        return toolsJson;
      },
      resources: resourcesOf(toolsets),
      instructions: instructionsOf(toolsets),
      methods: found.map(({ toolset, tool }) => fullName(toolset, tool.name)),
      directory: this.#directory(found, toolsets, dialect),
      toolsets: toolsets.map(({ name }) => name),
      findTool: (name) => byName.get(name),
    };
  }

  #directory(found: readonly FoundTool[], toolsets: readonly Toolset[], dialect: Dialect): Directory {
    const listed = new Map(
      found.map(({ toolset, tool }) => [fullName(toolset, tool.name), wireName(toolset, tool.name, dialect)]),
    );
    const known = () => this.#knownTools();
    return {
      get tools() {
        return known();
      },
      resources: toolsets.flatMap(({ resources }) => resources.map(({ uri }) => uri)),
      listedName: (name) => listed.get(name),
    };
  }

  #knownTools(): readonly KnownTool[] {
    this.#known ??= this.#toolsets.flatMap(({ name: toolset, tools }) =>
      tools.map((tool) => ({
        toolset,
        fullName: fullName(toolset, tool.name),
        title: tool.title,
        description: tool.description,
        role: tool.role,
        parameters: this.#schemasOf(toolset, tool).inputSchema,
        example: jsonObject.parse(tool.example),
      })),
    );
    return this.#known;
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
