import { z } from 'zod';
import type { Saving } from '../rules/workflows/library.ts';
import {
  defineTool,
  definition,
  expectedVersion,
  savedAnswer,
  workflowShape,
} from './orchestrationAnswers.ts';

export const saveWorkflow = defineTool({
  name: 'save_workflow',
  title: 'Save a workflow',
  description:
    'Saves or replaces a workflow under its name. A step has agent (claude, gemini, auto, network) or agents and mode, and optionally role, name, condition, prompt (Mustache: {{input}}, {{steps.plan.output}}). orchestration.list_workflows with detailed shows examples.',
  details:
    'For you and your agents. mode: race, all, vote, merge. role: plan, execute, review. prompt also knows {{context.x}}. condition: CEL, such as steps.review.output.startsWith("APPROVED"). Also retry {attempts}, timeout, parallel, repeatable, maxOutputTokens, picks, capabilities. {repeat: {until, max}, steps} repeats a group.',
  audience: 'those who administer',
  input: z.strictObject({
    workflow: definition.describe('{name, description?, steps, result?}'),
    expectedVersion,
  }),
  output: z
    .object({
      success: z.boolean(),
      workflow: workflowShape,
      change: z.enum(['created', 'replaced', 'unchanged']),
    })
    .partial(),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  loosens: [],
  role: 'worker',
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
  answer: ({ saved, change }: Saving) => ({ success: true, workflow: savedAnswer(saved, true), change }),
  handler: ({ services, principal, recordAnswer }, { workflow, expectedVersion: version }) =>
    services.orchestration.workflows.save(principal.owner_uid, workflow, version, recordAnswer),
});
