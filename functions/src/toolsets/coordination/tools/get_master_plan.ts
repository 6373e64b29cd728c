import { z } from 'zod';
import { MusterError } from '../../../kernel/errors.ts';
import type { Session } from '../rules/session.ts';
import { defineTool } from './coordinationAnswers.ts';

/** @throws MusterError NOT_FOUND where no goal was ever given */
export function masterPlanAnswer(session: Session | undefined, workspace: string) {
  if (session === undefined || session.goal === '') {
    throw new MusterError('NOT_FOUND', `Workspace "${workspace}" has no coordination yet.`, {
      suggestion: 'A leader starts one with coordination.init_coordination.',
    });
  }
  return {
    goal: session.goal,
    master_plan: session.master_plan,
    created_at: session.created_at.toISOString(),
  };
}

export const getMasterPlan = defineTool({
  name: 'get_master_plan',
  title: 'Master plan',
  description: 'Returns the goal and master plan.',
  input: z.strictObject({}),
  output: z.object({ goal: z.string(), master_plan: z.string(), created_at: z.string() }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  role: 'viewer',
  example: {},
  handler: async ({ services, workspace }) =>
    masterPlanAnswer(await services.coordination.session(workspace), workspace),
});
