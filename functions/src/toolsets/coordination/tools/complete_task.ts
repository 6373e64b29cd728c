import { z } from 'zod';
import {
  agentId,
  claimEpoch,
  defineTool,
  outcomeAnswer,
  outcomeShape,
  taskId,
  text,
  texts,
} from './coordinationAnswers.ts';

export const completeTask = defineTool({
  name: 'complete_task',
  title: 'Complete a task',
  description: 'Completes a task that you hold, with its result. Repeating the same report is harmless.',
  details:
    'Tasks that depended on it may become claimable. With when_parts_done you are relieved of it now, and it is done with this result when all that is part of it is.',
  input: z.strictObject({
    agent_id: agentId,
    task_id: taskId,
    output: text('Summary of the result', 200_000),
    files_modified: texts('Modified files', 1000).optional(),
    files_created: texts('Created files', 1000).optional(),
    claim_epoch: claimEpoch,
    when_parts_done: z.boolean().default(false).describe('Done once all its parts are'),
  }),
  output: outcomeShape,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  loosens: [],
  role: 'worker',
  example: {
    agent_id: 'terminal-2',
    task_id: 'task-xxx-002',
    output: 'Implemented login endpoint with JWT authentication',
    files_modified: ['src/routes/index.ts'],
    files_created: ['src/auth/login.ts', 'src/auth/jwt.ts'],
  },
  answer: outcomeAnswer,
  handler: async (
    { services, workspace, principal, recordAnswer },
    { agent_id, task_id, claim_epoch, when_parts_done, ...report },
  ) => {
    const agentId = await services.liveness.actAs(principal, workspace, agent_id);
    const claimant = { agent_id: agentId, claim_epoch: claim_epoch };
    const result = {
      output: report.output,
      ...(report.files_modified && { files_modified: report.files_modified }),
      ...(report.files_created && { files_created: report.files_created }),
    };
    return services.taskQueue.reportOutcome(
      principal,
      task_id,
      {
        claimant,
        outcome: { kind: 'done', result, ...(when_parts_done && { whenPartsDone: when_parts_done }) },
      },
      recordAnswer,
    );
  },
});
