import { z } from 'zod';
import { MusterError } from '../../../kernel/errors.ts';
import { fittingItems } from '../../../kernel/json.ts';
import { reading, writing } from '../../../mcp/tool.ts';
import { NAME } from '../rules/workflows/definition.ts';
import { builtIns, type SaveResult } from '../rules/workflows/library.ts';
import type { SavedWorkflow } from '../rules/workflows/validation.ts';
import {
  defineTool,
  definition,
  expectedVersion,
  savedResponse,
  workflowName,
  workflowResponse,
  workflowShape,
} from './orchestrationResponses.ts';

export const saveWorkflow = defineTool({
  name: 'save_workflow',
  title: 'Save a workflow',
  description:
    'Saves or replaces a named workflow. A step has agent (claude, gemini, auto, network) or agents and mode. Examples: orchestration.list_workflows with detailed.',
  details:
    'The workflow is visible to you and your agents. A step may also have role (plan, execute, review), name, condition (CEL, such as steps.review.output.startsWith("APPROVED")), prompt (Mustache: {{input}}, {{steps.plan.output}}, {{context.x}}), retry {attempts}, timeout, parallel, repeatable, maxOutputTokens, picks and capabilities. mode: race, all, vote, merge. {repeat: {until, max}, steps} repeats a group.',
  input: z.strictObject({ workflow: definition.describe('{name, description?, steps, result?}'), expectedVersion }),
  output: z
    .object({ success: z.boolean(), workflow: workflowShape, change: z.enum(['created', 'replaced', 'unchanged']) })
    .partial(),
  ...writing('worker', { destructiveHint: true, idempotentHint: true }),
  scope: 'owner',
  example: {
    workflow: {
      name: 'plan-and-check',
      steps: [
        { name: 'plan', agent: 'claude', role: 'plan' },
        { name: 'execute', agent: 'gemini' },
        { name: 'check', agent: 'claude', role: 'review' },
      ],
    },
  },
  response: ({ saved, change }: SaveResult) => ({ success: true, workflow: savedResponse(saved, true), change }),
  handler: ({ services, principal, recordResponse }, { workflow, expectedVersion: version }) =>
    services.orchestration.workflows.save(principal.owner_uid, workflow, version, recordResponse),
});

/** Returns the workflow name in the cursor. The list continues after this name. */
function nameIn(cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined;
  const name = Buffer.from(cursor, 'base64url').toString();
  if (NAME.test(name)) return name;
  throw new MusterError('INVALID_FORMAT', 'Invalid cursor for this list.', {
    field: 'cursor',
    suggestion: 'Send nextCursor from the previous page, or omit cursor to start over.',
  });
}

export const listWorkflows = defineTool({
  name: 'list_workflows',
  title: 'List workflows',
  description:
    'Lists available workflows, built-in and saved; detailed adds their steps, as examples for orchestration.save_workflow.',
  details: 'Saved workflows are yours, or those of your owner.',
  input: z.strictObject({
    filter: z.enum(['all', 'built-in', 'custom']).default('all').describe('Filter'),
    detailed: z.boolean().default(false).describe('With definitions'),
    limit: z.int().min(1).max(100).default(50).describe('Maximum'),
    cursor: z
      .string()
      .refine((text) => text.length <= 200, 'expected a nextCursor of this tool')
      .optional()
      .describe('From nextCursor'),
  }),
  output: z.object({
    workflows: z.array(workflowShape),
    truncated: z.boolean().optional().describe('Whether there is more; nextCursor continues.'),
    nextCursor: z.string().optional(),
  }),
  ...reading,
  returnsWhole: true,
  scope: 'owner',
  example: { filter: 'all' },
  handler: async ({ services, principal }, { filter, detailed, limit, cursor }) => {
    const after = nameIn(cursor);
    const builtIn = filter === 'custom' || after !== undefined ? [] : builtIns();
    const found =
      filter === 'built-in'
        ? { items: [], more: false }
        : await services.orchestration.workflows.list(principal.owner_uid, limit, after);
    const items = fittingItems(found.items, (saved) => savedResponse(saved, detailed));
    const more = found.more || items.length < found.items.length;
    const last = more ? items.at(-1) : undefined;
    return {
      workflows: [
        ...builtIn.map((workflow) => workflowResponse(workflow, detailed)),
        ...items.map((saved) => savedResponse(saved, detailed)),
      ],
      truncated: more,
      ...(last && { nextCursor: Buffer.from(last.definition.name).toString('base64url') }),
    };
  },
});

export const deleteWorkflow = defineTool({
  name: 'delete_workflow',
  title: 'Delete a workflow',
  description: 'Deletes a saved workflow and returns it.',
  details: 'Runs that have started still use the workflow. Built-in workflows cannot be deleted.',
  input: z.strictObject({ name: workflowName.describe('Workflow name'), expectedVersion }),
  output: z.object({ success: z.boolean(), workflow: workflowShape }).partial(),
  ...writing('worker', { destructiveHint: true, idempotentHint: false }),
  scope: 'owner',
  example: { name: 'plan-and-check' },
  response: (saved: SavedWorkflow) => ({ success: true, workflow: savedResponse(saved, true) }),
  handler: ({ services, principal, recordResponse }, { name, expectedVersion: version }) =>
    services.orchestration.workflows.delete(principal.owner_uid, name, version, recordResponse),
});
