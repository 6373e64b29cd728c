import { z } from 'zod';
import { MusterError } from '../../../kernel/errors.ts';
import { fitting } from '../../../kernel/json.ts';
import { NAME } from '../rules/workflows/definition.ts';
import { builtIns } from '../rules/workflows/library.ts';
import { defineTool, savedAnswer, workflowAnswer, workflowShape } from './orchestrationAnswers.ts';

/** The name of the last saved workflow of the page before. */
function nameIn(cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined;
  const name = Buffer.from(cursor, 'base64url').toString();
  if (NAME.test(name)) return name;
  throw new MusterError('INVALID_FORMAT', 'This cursor is not one that this list has answered.', {
    field: 'cursor',
    suggestion: 'Send nextCursor of the page before, or leave the cursor out to start again.',
  });
}

export const listWorkflows = defineTool({
  name: 'list_workflows',
  title: 'Workflows',
  description:
    'Lists built-in and saved workflows; detailed shows definitions, as examples for orchestration.save_workflow.',
  details: 'The saved ones are those of you, or of the person whose agent you are.',
  input: z.strictObject({
    filter: z.enum(['all', 'built-in', 'custom']).default('all').describe('Which'),
    detailed: z.boolean().default(false).describe('With definitions'),
    limit: z.int().min(1).max(100).default(50).describe('How many'),
    cursor: z
      .string()
      .refine((text) => text.length <= 200, 'expected a nextCursor of this tool')
      .optional()
      .describe('nextCursor of the page before'),
  }),
  output: z.object({
    workflows: z.array(workflowShape),
    truncated: z.boolean().optional().describe('Whether there is more; nextCursor goes on.'),
    nextCursor: z.string().optional(),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  answersWhole: true,
  role: 'viewer',
  scope: 'owner',
  example: { filter: 'all' },
  handler: async ({ services, principal }, { filter, detailed, limit, cursor }) => {
    const after = nameIn(cursor);
    const builtIn = filter === 'custom' || after !== undefined ? [] : builtIns();
    const found =
      filter === 'built-in'
        ? { items: [], more: false }
        : await services.orchestration.workflows.list(principal.owner_uid, limit, after);
    const items = fitting(found.items, (saved) => savedAnswer(saved, detailed));
    const more = found.more || items.length < found.items.length;
    const last = more ? items.at(-1) : undefined;
    return {
      workflows: [
        ...builtIn.map((workflow) => workflowAnswer(workflow, detailed)),
        ...items.map((saved) => savedAnswer(saved, detailed)),
      ],
      truncated: more,
      ...(last && { nextCursor: Buffer.from(last.definition.name).toString('base64url') }),
    };
  },
});
