/** Tools for the asker: ask a question, wait for the answer, withdraw the question. */
import { z } from 'zod';
import { isVisible } from '../../../kernel/hiddenCharacters.ts';
import { idOf } from '../../../kernel/ids.ts';
import type { CallContext } from '../../../mcp/callContext.ts';
import { guidance, listUpTo, reading, wholeNumber, writing } from '../../../mcp/tool.ts';
import { text } from '../../coordination/index.ts';
import type { InboxServices } from '../create.ts';
import { isSettled } from '../rules/answering.ts';
import { isAskedAtClient, MAX_ANSWER, optionsOf, REQUEST_KINDS, type Request } from '../rules/request.ts';
import { defineTool, requestId, requestResponse, requestShape } from './requestResponses.ts';

const MAX_OPTIONS = 20;

export const ask = defineTool({
  name: 'ask',
  title: 'Ask a person',
  description: 'Asks a person, by default your owner, and notifies them. Call wait to get the answer.',
  details:
    'The answer is approve or refuse for kind approval, an option for choice, and any text for text. A task you hold keeps its lease while you wait. A question expires after a day by default, and after 30 days at the latest. If `default` is set, it is then the answer. inbox.withdraw ends the question, but asking it cannot be undone.',
  rare: ['default', 'expires'],
  input: z.strictObject({
    question: text('The question', 2000),
    kind: z.enum(REQUEST_KINDS).describe('Type'),
    options: listUpTo(MAX_OPTIONS, text('An option', 200), 'options').optional().describe('For choice'),
    task_id: idOf('a task').optional().describe('Task you hold'),
    expires: z.iso.datetime({ offset: true }).optional().describe('Default: in a day'),
    default: text('Answer on expiry', 2000).optional(),
    to: z
      .string()
      .refine((to) => /^[^\s/\p{C}]{1,254}$/u.test(to), 'expected a uid or an email address')
      .optional()
      .describe('uid or email'),
  }),
  output: requestShape.extend({ next: guidance() }),
  ...writing('worker', { destructiveHint: false, idempotentHint: false }),
  scope: 'workspace',
  example: {
    question: 'Which region should the new database use?',
    kind: 'choice',
    options: ['europe-west1', 'us-central1'],
    default: 'europe-west1',
  },
  response: (request: Request) => ({
    ...requestResponse(request),
    next: `Call inbox.wait with request_id "${request.id}".`,
  }),
  handler: ({ services, principal, workspace, recordResponse }, asked) => {
    const { task_id, default: defaultAnswer, expires, options = [], ...rest } = asked;
    const question = {
      ...rest,
      workspace,
      options,
      taskId: task_id,
      defaultAnswer,
      expires: expires === undefined ? undefined : new Date(expires),
    };
    return services.inbox.asking.ask(principal, question, recordResponse);
  },
});

const MAX_WAIT_MS = 25_000;

const ANSWER = 'answer';

const typedAnswer = z.object({ [ANSWER]: z.string().trim().refine(isVisible).max(MAX_ANSWER) });

/** Records what the person answered in the client. Returns whether the client must still show the question. */
async function askedAtClient(context: CallContext<InboxServices>, id: string): Promise<boolean> {
  const { elicitation, operation, principal, services, trackWait, disconnectSignal } = context;
  if (elicitation === undefined) return false;
  const { answers } = services.inbox;
  const response = elicitation.response(id);
  if (response !== undefined) {
    const { data } = typedAnswer.safeParse(response.action === 'accept' ? response.content : undefined);
    await answers.answeredAtClient(principal, id, data?.[ANSWER], { by: operation.by });
    return false;
  }
  const request = await answers.wait(principal, id, 0, { disconnectSignal, trackWait });
  if (!isAskedAtClient(request, principal)) return false;
  const form = { message: request.question, field: ANSWER, title: 'Your answer', options: optionsOf(request) };
  elicitation.ask(id, form);
  return true;
}

export const wait = defineTool({
  name: 'wait',
  title: 'Wait for an answer',
  description: 'Waits for the answer to a request. If none came, call again.',
  details:
    'If your client supports elicitation (MCP 2026-07-28), the client also shows your questions to your owner; the first answer counts.',
  input: z.strictObject({
    request_id: requestId,
    wait_ms: wholeNumber(0, MAX_WAIT_MS).default(20_000).describe('Milliseconds; 0: do not wait'),
  }),
  output: requestShape.extend({ next: guidance().optional() }),
  ...reading,
  notifies: true,
  example: { request_id: 'request-region', wait_ms: 0 },
  handler: async (context, { request_id: id, wait_ms }) => {
    const { services, principal, disconnectSignal, trackWait } = context;
    const isAsking = await askedAtClient(context, id);
    const milliseconds = isAsking ? 0 : wait_ms;
    const request = await services.inbox.answers.wait(principal, id, milliseconds, { disconnectSignal, trackWait });
    const next = isSettled(request)
      ? undefined
      : `${request.asked_of_name} has not answered yet: call inbox.wait again, or continue with other work first.`;
    return { ...requestResponse(request), next };
  },
});

export const withdraw = defineTool({
  name: 'withdraw',
  title: 'Withdraw a request',
  description: 'Withdraws a request you made: no answer is needed any longer.',
  input: z.strictObject({ request_id: requestId }),
  output: requestShape,
  ...writing('viewer', { destructiveHint: true, idempotentHint: true }),
  example: { request_id: 'request-own' },
  response: requestResponse,
  handler: ({ services, principal, recordResponse }, { request_id: id }) =>
    services.inbox.asking.withdraw(principal, id, recordResponse),
});
