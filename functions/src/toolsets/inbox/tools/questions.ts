/** The tools of those who ask a person: ask, wait for the answer, withdraw the question. */
import { z } from 'zod';
import { isVisible } from '../../../kernel/hidden.ts';
import { idOf } from '../../../kernel/ids.ts';
import type { CallContext } from '../../../mcp/callContext.ts';
import { guidance, listUpTo, wholeNumber } from '../../../mcp/tool.ts';
import { text } from '../../coordination/index.ts';
import type { InboxServices } from '../create.ts';
import { isSettled } from '../rules/answering.ts';
import { isAskedAtClient, MAX_ANSWER, optionsOf, REQUEST_KINDS, type Request } from '../rules/request.ts';
import { defineTool, reading, requestAnswer, requestId, requestShape } from './requestAnswers.ts';

const MAX_OPTIONS = 20;

export const ask = defineTool({
  name: 'ask',
  title: 'Ask a person',
  description: 'Asks your owner, or another person, who is told at once. wait then waits for the answer.',
  details:
    'approval is answered by approve or refuse, choice by one of the options, text by words. A task that you hold waits with you: its lease stands until the question is over. A question expires after a day unless it says otherwise, at most 30 days; default is the answer that holds then, and without one there is none. withdraw ends a question; that it was asked cannot be taken back.',
  input: z.strictObject({
    question: text('What to decide', 2000),
    kind: z.enum(REQUEST_KINDS).describe('Its form'),
    options: listUpTo(MAX_OPTIONS, text('An option', 200), 'options').optional().describe('Of a choice'),
    task_id: idOf('a task').optional().describe('A task that you hold'),
    expires: z.iso.datetime({ offset: true }).optional().describe('After a day if left out'),
    default: text('Answer on expiry', 2000).optional(),
    to: z
      .string()
      .refine((to) => /^[^\s/\p{C}]{1,254}$/u.test(to), 'expected a uid or a mail address')
      .optional()
      .describe('uid or mail address; your owner if left out'),
  }),
  output: requestShape.extend({ next: guidance() }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  loosens: [],
  role: 'worker',
  scope: 'workspace',
  example: {
    question: 'Which region is the new database to be in?',
    kind: 'choice',
    options: ['europe-west1', 'us-central1'],
    default: 'europe-west1',
  },
  answer: (request: Request) => ({
    ...requestAnswer(request),
    next: `Call inbox.wait with request_id "${request.id}".`,
  }),
  handler: ({ services, principal, workspace, recordAnswer }, asked) => {
    const { task_id, default: defaultAnswer, expires, options = [], ...rest } = asked;
    const question = {
      ...rest,
      workspace,
      options,
      taskId: task_id,
      defaultAnswer,
      expires: expires === undefined ? undefined : new Date(expires),
    };
    return services.inbox.asking.ask(principal, question, recordAnswer);
  },
});

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

export const withdraw = defineTool({
  name: 'withdraw',
  title: 'Withdraw a request',
  description: 'Takes back what you have asked: nobody needs to answer any more.',
  audience: 'those who administer',
  input: z.strictObject({ request_id: requestId }),
  output: requestShape,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  loosens: [],
  role: 'viewer',
  example: { request_id: 'request-own' },
  answer: requestAnswer,
  handler: ({ services, principal, recordAnswer }, { request_id: id }) =>
    services.inbox.asking.withdraw(principal, id, recordAnswer),
});
