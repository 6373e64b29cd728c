import { z } from 'zod';
import type { SavedWorkflow } from '../rules/workflows/savedWorkflow.ts';
import {
  defineTool,
  expectedVersion,
  savedAnswer,
  workflowName,
  workflowShape,
} from './orchestrationAnswers.ts';

export const deleteWorkflow = defineTool({
  name: 'delete_workflow',
  title: 'Delete a workflow',
  description: 'Deletes a saved workflow and answers it as it was.',
  details: 'Runs that have begun go on with it. Built-in workflows stay.',
  audience: 'those who administer',
  input: z.strictObject({ name: workflowName.describe('Name of workflow'), expectedVersion }),
  output: z.object({ success: z.boolean(), workflow: workflowShape }).partial(),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  loosens: [],
  role: 'worker',
  scope: 'owner',
  example: { name: 'plan-and-check' },
  answer: (saved: SavedWorkflow) => ({ success: true, workflow: savedAnswer(saved, true) }),
  handler: ({ services, principal, recordAnswer }, { name, expectedVersion: version }) =>
    services.orchestration.workflows.delete(principal.owner_uid, name, version, recordAnswer),
});
