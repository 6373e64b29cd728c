import { z } from 'zod';
import { promptArgument } from '../../../mcp/prompt.ts';
import { definePrompt } from './taskArguments.ts';

const SCOPES = ['team', 'me'];

export const status = definePrompt({
  name: 'status',
  title: 'Show the status',
  description: 'Summarizes the goal, the tasks in progress, and what is stuck or late.',
  input: z.strictObject({ scope: promptArgument('Scope', 'team, me, or the id of a task; default: team').optional() }),
  complete: { scope: async () => SCOPES },
  text: `Report the status in a few lines. Change nothing.
- Without a scope, or with the scope team: call coordination.get_status, then coordination.get_all_tasks for the tasks in progress. State the goal and its progress, which agent holds which task, and which tasks are stuck or late.
- With the scope me: report only the tasks that the user's own agents hold or created.
- With the id of a task: call access.explain {task}, and state what the task waits for and who can change that.
If questions wait for a decision of the user, name them.`,
});
