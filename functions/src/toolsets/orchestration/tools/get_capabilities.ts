import { z } from 'zod';
import { textUpTo } from '../../../mcp/tool.ts';
import { languageNamed, requireRole } from '../rules/agents/profile.ts';
import { defineTool } from './orchestrationAnswers.ts';

const shortText = textUpTo(100);

export const getCapabilities = defineTool({
  name: 'get_capabilities',
  title: 'Who suits a task',
  description: 'Ranks the hosted models for a task, with reasons and warnings.',
  details: 'Role, language and size are read out of the task where the requirements leave them out.',
  audience: 'those who administer',
  input: z.strictObject({
    task: textUpTo(100_000).optional().describe('Task description'),
    requirements: z
      .strictObject({
        language: shortText.optional().describe('Programming language'),
        contextSize: z
          .number()
          .refine((size) => Number.isFinite(size) && size >= 0, 'expected a number of tokens')
          .optional()
          .describe('In tokens'),
        role: shortText.optional().describe('plan, execute or review'),
      })
      .optional()
      .describe('What it needs'),
  }),
  output: z.object({
    recommendations: z.array(
      z
        .object({
          agent: z.string(),
          score: z.number().describe('From 0 to 1.'),
          reasons: z.array(z.string()),
          warnings: z.array(z.string()),
        })
        .partial(),
    ),
    inferred: z.array(z.string()).optional().describe('What was read out of the task.'),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  role: 'viewer',
  example: { task: 'Process 1MB of text data', requirements: { contextSize: 1_000_000 } },
  handler: async ({ services, workspace }, { task = '', requirements = {} }) => {
    const { language, contextSize, role } = requirements;
    const { recommendations, inferred } = await services.orchestration.roster.recommend(workspace, task, {
      contextSize,
      language: language === undefined ? undefined : languageNamed(language),
      role: role === undefined ? undefined : requireRole(role, 'requirements.role'),
    });
    return { recommendations, ...(inferred.length > 0 && { inferred }) };
  },
});
