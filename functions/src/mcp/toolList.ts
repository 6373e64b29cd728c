/** How `tools/list` shows a tool: whole, or trimmed to what a model needs. */
import { hasRole, type Role } from '../access/rules/principal.ts';
import type { JsonObject } from '../kernel/json.ts';
import { PackedText } from './http/compression.ts';
import { answerOrRefusalSchema, inputJsonSchema, lightSchema, outputJsonSchema } from './jsonSchema.ts';
import { type Dialect, wireName } from './names.ts';
import type { FoundTool, Tool, ToolHints } from './tool.ts';

/** A tool as `tools/list` shows it. Source: MCP 2025-11-25, Tool. */
interface ListedTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema?: ObjectSchema;
  readonly annotations: Partial<ToolHints> & { readonly title?: string };
}

type ObjectSchema = JsonObject & { readonly type: 'object' };

/** A list, made, serialised and encoded once. */
export interface ToolList {
  readonly tools: readonly ListedTool[];
  /** `tools` as JSON. */
  readonly json: PackedText;
}

export function toolListOf(tools: readonly ListedTool[]): ToolList {
  return { tools, json: new PackedText(JSON.stringify(tools)) };
}

/** Everything that there is to say of a tool. */
export function wholeTool({ toolset, tool, errors }: FoundTool, dialect: Dialect): ListedTool {
  const { title, annotations, output } = tool;
  const answer = errors ? answerOrRefusalSchema(output, errors.schema) : outputJsonSchema(output);
  return {
    name: wireName(toolset, tool.name, dialect),
    title,
    description: wholeDescription(tool),
    inputSchema: objectSchema(inputJsonSchema(tool.input)),
    outputSchema: objectSchema(answer),
    annotations: { title, ...annotations },
  };
}

/**
 * What a model needs to choose a tool and to call it rightly; it is read anew with each of its turns. What a
 * light schema takes more than the tool does is refused with an error that says what was expected.
 */
export function lightTool({ toolset, tool }: FoundTool, dialect: Dialect): ListedTool {
  const { title, description, annotations } = tool;
  return {
    name: wireName(toolset, tool.name, dialect),
    title,
    description,
    inputSchema: objectSchema(lightSchema(inputJsonSchema(tool.input))),
    annotations: unlikeDefaults(annotations),
  };
}

/** Whether the light list has the tool for callers of the role. */
export function isListedLight({ tool }: FoundTool, role: Role): boolean {
  return tool.audience === undefined && hasRole(role, tool.role);
}

export function wholeDescription({ description, details }: Pick<Tool, 'description' | 'details'>): string {
  return details === undefined ? description : `${description} ${details}`;
}

/** The hints that clients would not assume by themselves. Source: MCP 2025-11-25, ToolAnnotations. */
function unlikeDefaults(hints: ToolHints): Partial<ToolHints> {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = hints;
  return {
    ...(readOnlyHint && { readOnlyHint }),
    ...(!readOnlyHint && !destructiveHint && { destructiveHint }),
    ...(!readOnlyHint && idempotentHint && { idempotentHint }),
    ...(!openWorldHint && { openWorldHint }),
  };
}

function objectSchema(schema: JsonObject): ObjectSchema {
  return { ...schema, type: 'object' };
}
