import { z } from 'zod';
import type { Initialised } from '../rules/coordination.ts';
import { archivedAnswer, archivedShape, defineTool, text } from './coordinationAnswers.ts';

export const initCoordination = defineTool({
  name: 'init_coordination',
  title: 'Initialise coordination',
  description:
    "Begins the workspace's session with a goal and plan. The same goal keeps the session; another archives it with its tasks, which reopen undoes.",
  input: z.strictObject({
    goal: text('Overall project goal', 5000),
    master_plan: text('High-level plan', 100_000).optional(),
  }),
  output: z.object({
    success: z.boolean(),
    goal: z.string(),
    created_at: z.string(),
    archived_session: z
      .object(archivedShape)
      .optional()
      .describe('The session that made room for the new goal. reopen brings it back.'),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  loosens: [],
  role: 'leader',
  example: {
    goal: 'Build a REST API for user management',
    master_plan: '1. Design data models\n2. Implement endpoints\n3. Add authentication',
  },
  answer: ({ session, archived }: Initialised) => ({
    success: true,
    goal: session.goal,
    created_at: session.created_at.toISOString(),
    archived_session: archived && archivedAnswer(archived),
  }),
  handler: ({ services, workspace, principal, recordAnswer }, { goal, master_plan }) =>
    services.coordination.initialise(workspace, { goal, masterPlan: master_plan }, recordAnswer, principal),
});
