import { z } from 'zod';
import { isVisible } from '../../../kernel/hidden.ts';
import type { CallContext } from '../../../mcp/callContext.ts';
import { guidance, wholeNumber } from '../../../mcp/tool.ts';
import type { InboxServices } from '../create.ts';
import { isSettled } from '../rules/answering.ts';
import { isAskedAtClient, MAX_ANSWER, optionsOf } from '../rules/request.ts';
import { defineTool, reading, requestAnswer, requestId, requestShape } from './requestAnswers.ts';

const MAX_WAIT_MS = 25_000;

const ANSWER = 'answer';

const said = z.object({ [ANSWER]: z.string().trim().refine(isVisible).max(MAX_ANSWER) });

/** Has the client ask the person who sits at it, or takes what they have said there. Tells whether the client is to ask. */
async function askedAtClient(context: CallContext<InboxServices>, id: string): Promise<boolean> {
  const { elicitation, operation, principal, services, waiting, gone } = context;
  if (elicitation === undefined) return false;
  const { answers } = services.inbox;
  const response = elicitation.said(id);
  if (response !== undefined) {
    const { data } = said.safeParse(response.action === 'accept' ? response.content : undefined);
    await answers.answeredAtClient(principal, id, data?.[ANSWER], { by: operation.by });
    return false;
  }
  const request = await answers.wait(principal, id, 0, { gone, waiting });
  if (!isAskedAtClient(request, principal)) return false;
  const form = {
    message: request.question,
    field: ANSWER,
    title: 'Your answer',
    options: optionsOf(request),
  };
  elicitation.ask(id, form);
  return true;
}

export const wait = defineTool({
  name: 'wait',
  title: 'Wait for an answer',
  description: 'Waits until a request is answered, expired or withdrawn. While it is open, call again.',
  details:
    'Where your client can ask the person who sits at it (MCP 2026-07-28 with elicitation), it asks your owner there as well, what you have asked them yourself; the first answer counts.',
  input: z.strictObject({
    request_id: requestId,
    wait_ms: wholeNumber(0, MAX_WAIT_MS).default(20_000).describe('Milliseconds; 0 answers at once'),
  }),
  output: requestShape.extend({ next: guidance().optional() }),
  annotations: reading,
  role: 'viewer',
  notifies: true,
  example: { request_id: 'request-region', wait_ms: 0 },
  handler: async (context, { request_id: id, wait_ms }) => {
    const { services, principal, gone, waiting } = context;
    const isAsking = await askedAtClient(context, id);
    const milliseconds = isAsking ? 0 : wait_ms;
    const request = await services.inbox.answers.wait(principal, id, milliseconds, { gone, waiting });
    const next = isSettled(request)
      ? undefined
      : `${request.asked_of_name} has not answered yet: call inbox.wait again, or do something else meanwhile.`;
    return { ...requestAnswer(request), next };
  },
});
