/** Arguments and responses that several inbox tools share. */

import { z } from 'zod';
import { idOf } from '../../../kernel/ids.ts';
import { toolsFor } from '../../../mcp/tool.ts';
import type { InboxServices } from '../create.ts';
import { optionsOf, REQUEST_KINDS, REQUEST_STATES, type Request } from '../rules/request.ts';

export const defineTool = toolsFor<InboxServices>();

export const requestId = idOf('a request').describe('From inbox.ask');

export const requestState = z.enum(REQUEST_STATES);

const time = z.iso.datetime();

export const requestShape = z.object({
  request_id: z.string(),
  workspace: z.string(),
  kind: z.enum(REQUEST_KINDS),
  question: z.string(),
  options: z.array(z.string()).optional().describe('The possible answers; absent for free text.'),
  state: requestState,
  asked_by: z.string().describe('The uid of the asker.'),
  asked_of: z.object({ uid: z.string(), name: z.string() }),
  task_id: z.string().optional(),
  created_at: time,
  expires_at: time,
  default: z.string().optional().describe('The answer that applies on expiry.'),
  answer: z.string().optional(),
  comment: z.string().optional(),
  answered_by: z
    .object({ uid: z.string(), agent_id: z.string().optional() })
    .optional()
    .describe('The person, and the agent that answered for them, if any.'),
  settled_at: time.optional(),
  call: z
    .object({ tool: z.string(), arguments: z.record(z.string(), z.unknown()) })
    .optional()
    .describe('The call that runs once approved.'),
  outcome: z.record(z.string(), z.unknown()).optional().describe("The call's answer or error."),
});

export function requestResponse(request: Request): z.output<typeof requestShape> {
  const { answered_by, answered_by_agent } = request;
  const options = optionsOf(request);
  return {
    request_id: request.id,
    workspace: request.workspace,
    kind: request.kind,
    question: request.question,
    options: options && [...options],
    state: request.state,
    asked_by: request.asked_by,
    asked_of: { uid: request.asked_of, name: request.asked_of_name },
    task_id: request.task_id,
    created_at: request.created_at.toISOString(),
    expires_at: request.expires_at.toISOString(),
    default: request.default,
    answer: request.answer,
    comment: request.comment,
    answered_by: answered_by === undefined ? undefined : { uid: answered_by, agent_id: answered_by_agent },
    settled_at: request.settled_at?.toISOString(),
    call: request.call && { tool: request.call.tool, arguments: request.call.arguments },
    outcome: request.outcome,
  };
}
