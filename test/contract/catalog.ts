/** The tools of all toolsets with their JSON Schemas, prepared for the contract tests. */
import { inputJsonSchema, outputJsonSchema } from '../../functions/src/mcp/jsonSchema.ts';
import { fullName, type Tool } from '../../functions/src/mcp/tool.ts';
import { toolsets } from '../../functions/src/toolsets/index.ts';
import type { Schema } from './agreement.ts';

export interface Entry {
  readonly toolset: string;
  readonly tool: Tool;
  /** Full name, such as `coordination.create_task`. */
  readonly name: string;
  readonly input: Schema;
  readonly output: Schema;
}

export const entries: readonly Entry[] = toolsets.flatMap(({ name: toolset, tools }) =>
  tools.map((tool) => ({
    toolset,
    tool,
    name: fullName(toolset, tool.name),
    input: inputJsonSchema(tool.input),
    output: outputJsonSchema(tool.output),
  })),
);
