import { z } from 'zod';
import { idOf } from '../../../kernel/ids.ts';
import type { CallContext } from '../../../mcp/callContext.ts';
import { partial } from '../../../mcp/tool.ts';
import type { OnboardingServices } from '../create.ts';
import { type ChecklistItem, progressOf } from '../rules/onboarding.ts';
import { defineTool, writtenCall } from './exampleCalls.ts';

const itemShape = partial({
  id: z.string(),
  category: z.string(),
  title: z.string(),
  description: z.string(),
  required: z.boolean(),
  completed: z.boolean(),
  completedAt: z.iso.datetime(),
  dependencies: z.array(z.string()).describe('Ids of the items that come before it.'),
  resources: z
    .array(z.string())
    .describe('The call that does it, as a tool, a space and its arguments as JSON; then where to make it.'),
});

export const getChecklist = defineTool({
  name: 'getChecklist',
  title: 'Onboarding checklist',
  description: "Returns an agent's onboarding checklist and the next call to make.",
  details:
    'It ticks itself from what the agent has really done. An agent sees its own, a person those of their agents, leaders and admins all.',
  input: z.strictObject({
    agentId: idOf('an agent').describe('Agent identifier'),
    includeCompleted: z.boolean().default(true).describe('Include completed'),
  }),
  output: z.object({
    checklist: z.array(itemShape),
    progress: partial({
      completed: z.int(),
      total: z.int(),
      percentage: z.number().describe('Rounded down: 100 means that all is done.'),
      requiredRemaining: z.int(),
    }).describe('Counts all items, also those that are not included.'),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  role: 'viewer',
  example: { agentId: 'terminal-2' },
  handler: async (context, { agentId, includeCompleted }) => {
    const items = await context.services.onboarding.checklist(context.principal, context.workspace, agentId);
    const shown = includeCompleted ? items : items.filter(({ completed }) => !completed);
    return { checklist: shown.map((item) => itemAnswer(context, item)), progress: progressOf(items) };
  },
});

function itemAnswer(
  { directory, baseUrl }: CallContext<OnboardingServices>,
  { call, completedAt, dependencies, ...item }: ChecklistItem,
): z.output<typeof itemShape> {
  const where = call === undefined ? 'onboarding' : call.tool.slice(0, call.tool.indexOf('.'));
  return {
    ...item,
    ...(completedAt && { completedAt: completedAt.toISOString() }),
    dependencies: [...dependencies],
    resources: [...(call ? [writtenCall(directory, call)] : []), `${baseUrl}/${where}`],
  };
}
