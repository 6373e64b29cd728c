import { z } from 'zod';
import { idOf } from '../../../kernel/ids.ts';
import { guidance, wholeNumber } from '../../../mcp/tool.ts';
import { type ClaimOutcome, DEFAULT_LEASE_SECONDS } from '../rules/claims.ts';
import { NO_TASK_REASONS } from '../rules/nothingToClaim.ts';
import {
  agentId,
  defineTool,
  messagesAnswer,
  messagesShape,
  taskAnswer,
  taskShape,
} from './coordinationAnswers.ts';

const DAY_SECONDS = 24 * 60 * 60;

const MAX_IN_HAND = 100;

export const claimTask = defineTool({
  name: 'claim_task',
  title: 'Claim a task',
  description:
    'Claims the first task that you may do; where there is none, reason says why. The claim is a lease that any call of yours renews. What you hold but have not started comes again, with resumed: true.',
  details:
    'The order is priority, then deadline, then age. The same comes again also where you hold as many as you may. Where there is none for you, explanation tells more.',
  input: z.strictObject({
    agent_id: agentId,
    lease_seconds: wholeNumber(1, DAY_SECONDS)
      .default(DEFAULT_LEASE_SECONDS)
      .describe('How long it lasts without a call of yours'),
    in_hand: z
      .array(idOf('a task'))
      .max(MAX_IN_HAND, `expected at most ${MAX_IN_HAND} tasks`)
      .optional()
      .describe('Tasks you know to be yours, to claim one more'),
  }),
  output: z.object({
    success: z.boolean(),
    task: taskShape.optional(),
    resumed: z.boolean().optional(),
    message: z.string().optional(),
    reason: z.enum(NO_TASK_REASONS).optional().describe('Why there is none, for a program.'),
    explanation: guidance().optional().describe('Why there is none, and what would change that.'),
    messages: messagesShape,
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  answersWhole: true,
  loosens: [],
  role: 'worker',
  example: { agent_id: 'terminal-2' },
  answer: (outcome: ClaimOutcome) => {
    const messages = messagesAnswer(outcome.messages ?? []);
    if (outcome.kind === 'none')
      return {
        success: false,
        message: 'No available tasks with satisfied dependencies',
        ...outcome.why,
        messages,
      };
    const resumed = outcome.kind === 'resumed' || undefined;
    return { success: true, task: taskAnswer(outcome.task), resumed, messages };
  },
  handler: async ({ services, workspace, principal, recordAnswer }, { agent_id, lease_seconds, in_hand }) => {
    const { id: agentId, readsMessages } = await services.liveness.acting(principal, workspace, agent_id);
    const request = { workspace, agentId, readsMessages, leaseSeconds: lease_seconds, inHand: in_hand };
    return services.taskClaims.claim(request, recordAnswer);
  },
});
