/** Returns a toolset as clients see it, with one line per tool and per resource, so that diffs are readable. */
import { inputJsonSchema, outputJsonSchema } from '../../functions/src/mcp/jsonSchema.ts';
import type { Tool, Toolset } from '../../functions/src/mcp/tool.ts';
import { exampleError } from './pages.ts';

export function toolsetSnapshot({ instructions, errors, tools, resources, templates = [] }: Toolset): string {
  const lines = [
    ['instructions', instructions],
    ['error', exampleError(errors)],
    ...tools.map((tool) => [tool.name, seenOf(tool)]),
    ...resources.map(({ read: _, ...listed }) => [listed.uri, listed]),
    ...templates.map(({ uriTemplate, name, title, description, mimeType, role, scope }) => [
      uriTemplate,
      { name, title, description, mimeType, role, scope },
    ]),
  ];
  const entries = lines.map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`);
  return `{\n${entries.join(',\n')}\n}\n`;
}

function seenOf({ input, output, ...tool }: Tool): object {
  const { title, description, details, role, agentRole, scope, annotations, loosens, example } = tool;
  return {
    title,
    description,
    details,
    role,
    agentRole,
    scope,
    annotations,
    loosens,
    example,
    input: inputJsonSchema(input),
    output: outputJsonSchema(output),
  };
}
