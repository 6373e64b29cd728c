/** Workflows as the tools take and list them. */
import { z } from 'zod';
import { idLike } from '../../domain/ids.ts';
import { agentsOf, allSteps, NAME, type Workflow } from '../../domain/orchestration/workflows/definition.ts';
import type { SavedWorkflow } from '../../domain/orchestration/workflows/saved.ts';

/** An inline definition; what it may hold is checked where an error can name the step. */
export const definition = z.union([z.string(), z.record(z.string(), z.unknown())]);

export const workflowName = idLike(
  NAME,
  'expected a letter, then letters, digits, _ and -, at most 64 in all',
);

export const expectedVersion = z.int().min(0).optional().describe('Fails unless at this version; 0: new');

export const workflowShape = z
  .object({
    name: z.string(),
    description: z.string(),
    steps: z.int(),
    agents: z.array(z.string()),
    parallel: z.boolean().describe('Whether several agents or steps run at once in it.'),
    version: z.int().describe('Of a saved workflow: one more with each change.'),
    updatedAt: z.iso.datetime(),
    definition: z.record(z.string(), z.unknown()).describe('The whole of it, every default filled in.'),
  })
  .partial();

export function workflowAnswer(workflow: Workflow, detailed: boolean): z.output<typeof workflowShape> {
  const steps = allSteps(workflow);
  const agents = [...new Set(steps.flatMap(agentsOf))];
  const isParallel = steps.some((step) => step.parallel || agentsOf(step).length > 1);
  return {
    name: workflow.name,
    ...(workflow.description !== undefined && { description: workflow.description }),
    steps: steps.length,
    agents,
    ...(isParallel && { parallel: true }),
    ...(detailed && { definition: { ...workflow } }),
  };
}

export function savedAnswer(saved: SavedWorkflow, detailed: boolean): z.output<typeof workflowShape> {
  return {
    ...workflowAnswer(saved.workflow, detailed),
    version: saved.version,
    updatedAt: saved.updatedAt.toISOString(),
  };
}
