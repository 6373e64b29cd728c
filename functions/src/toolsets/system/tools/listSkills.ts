import { z } from 'zod';
import { fitting } from '../../../kernel/json.ts';
import type { KnownTool } from '../../../mcp/callContext.ts';
import { partial, textUpTo } from '../../../mcp/tool.ts';
import type { Skill } from '../rules/directory.ts';
import { type CallHistory, successRate } from '../rules/metrics.ts';
import { defineTool } from './systemPages.ts';

const object = z.record(z.string(), z.unknown());

const skillShape = partial({
  id: z.string(),
  name: z.string(),
  category: z.string(),
  description: z.string(),
  version: z.string(),
  author: z.string(),
  requirements: z.array(z.string()),
  parameters: object,
  examples: z.array(object),
  deprecated: z.boolean(),
  successRate: z.number().describe('Share of the calls of the last hour that succeeded: 0 to 1.'),
  lastUsed: z.iso.datetime().describe('The last minute of the last hour in which it was called.'),
});

const shortText = (description: string) => textUpTo(200).optional().describe(description);

export const listSkills = defineTool({
  name: 'listSkills',
  title: 'Skills',
  description:
    'Lists what can be done here: every tool with an example, then the capabilities of agents of this workspace.',
  details:
    'The category of a tool is its toolset. Of capabilities only the name is searched. One that no agent has any more is deprecated.',
  input: z.strictObject({
    category: shortText('A toolset, or a category of capabilities'),
    search: shortText('Beginnings of words; case and accents do not count'),
    includeDeprecated: z.boolean().default(false).describe('Include deprecated ones'),
    limit: z.int().min(1).max(1000).default(100).describe('How many'),
    offset: z.int().min(0).default(0).describe('Skills to skip'),
  }),
  output: z.object({
    skills: z.array(skillShape),
    total: z.int(),
    totalPages: z.int().optional().describe('How many pages of this limit hold all of it.'),
    hasNext: z.boolean().optional().describe('Whether there are more after these.'),
    hasPrevious: z.boolean().optional().describe('Whether some were passed over.'),
    categories: z
      .array(z.string())
      .optional()
      .describe('The toolsets, and the categories of the capabilities given here.'),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  role: 'viewer',
  example: { search: 'claim task', limit: 10 },
  handler: async ({ services, directory, workspace }, request) => {
    const tools = directory.tools.map((tool) => toolSkill(tool, services.system.version));
    const [{ skills, total }, history] = await Promise.all([
      services.system.findSkills(tools, { ...request, workspace }),
      services.system.recentCalls.lastHour(),
    ]);
    const shown = fitting(
      skills.map((skill) => ({ ...skill, ...usage(skill.id, history) })),
      (skill) => skill,
    );
    return {
      skills: [...shown],
      total,
      totalPages: Math.ceil(total / request.limit),
      hasNext: request.offset + shown.length < total,
      hasPrevious: total > 0 && request.offset > 0,
      categories: [...new Set([...tools, ...skills].map(({ category }) => category))],
    };
  },
});

function toolSkill(tool: KnownTool, version: string): Skill {
  const { fullName, title, toolset, description, role, parameters, example } = tool;
  return {
    id: fullName,
    name: fullName,
    category: toolset,
    description: `${title}. ${description}`,
    version,
    author: 'Muster',
    requirements: [`role: ${role}`],
    parameters,
    examples: [example],
    deprecated: false,
  };
}

/** Only tools are called. */
function usage(id: string, history: CallHistory | undefined): z.input<typeof skillShape> {
  const counts = history?.tools.get(id);
  const rate = counts && successRate(counts);
  if (counts === undefined || rate === undefined) return {};
  return { successRate: rate, lastUsed: counts.lastUsed.toISOString() };
}
