/** Tools for requests to people: ask, wait for the answer, withdraw; list and answer. */
import { z } from 'zod';
import { idOf } from '../../../kernel/ids.ts';
import { fittingItems } from '../../../kernel/json.ts';
import { decodeCursor, encodeCursor } from '../../../kernel/paging.ts';
import { shownAtClient } from '../../../mcp/callContext.ts';
import {
  type Given,
  guidance,
  listUpTo,
  reading,
  textUpTo,
  toolsFor,
  wholeNumber,
  writing,
} from '../../../mcp/tool.ts';
import { text } from '../../coordination/index.ts';
import type { InboxServices } from '../create.ts';
import { isSettled } from '../rules/answering.ts';
import { MAX_ANSWER, optionsOf, REQUEST_KINDS, REQUEST_STATES, type Request } from '../rules/request.ts';

const defineTool = toolsFor<InboxServices>();
const requestId = idOf('a request').describe('From inbox.ask');
const requestState = z.enum(REQUEST_STATES);
const time = z.iso.datetime();

const requestShape = z.object({
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
  changed_at: time.optional().describe('When the person last changed the answer.'),
  call: z
    .object({ tool: z.string(), arguments: z.record(z.string(), z.unknown()) })
    .optional()
    .describe('The call that runs once approved.'),
  outcome: z.record(z.string(), z.unknown()).optional().describe("The call's answer or error."),
});

/** Returns a request for a response, whose schema removes the fields that callers do not see. */
function requestResponse(request: Request): Given<z.output<typeof requestShape>> {
  const { id, asked_of: uid, asked_of_name: name, answered_by, answered_by_agent } = request;
  return {
    ...request,
    request_id: id,
    options: optionsOf(request),
    asked_of: { uid, name },
    answered_by: answered_by === undefined ? undefined : { uid: answered_by, agent_id: answered_by_agent },
  };
}

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
    const until = expires === undefined ? undefined : new Date(expires);
    const question = { ...rest, workspace, options, taskId: task_id, defaultAnswer, expires: until };
    return services.inbox.asking.ask(principal, question, recordResponse);
  },
});

const MAX_WAIT_MS = 25_000;

export const wait = defineTool({
  name: 'wait',
  title: 'Wait for an answer',
  description: 'Waits for the answer to a request. If none came, call again.',
  details:
    'If your client supports elicitation (MCP 2026-07-28), it also shows your questions to your owner, and opens the page of an approval; the first answer counts.',
  input: z.strictObject({
    request_id: requestId,
    wait_ms: wholeNumber(0, MAX_WAIT_MS).default(20_000).describe('Milliseconds; 0: do not wait'),
  }),
  output: requestShape.extend({ next: guidance().optional() }),
  ...reading,
  notifies: true,
  example: { request_id: 'request-region', wait_ms: 0 },
  handler: async (context, { request_id: id, wait_ms }) => {
    const { answers, questions } = context.services.inbox;
    const { isAsking } = await shownAtClient(questions, context, id);
    const request = await answers.wait(context.principal, id, isAsking ? 0 : wait_ms, context);
    const next = `${request.asked_of_name} has not answered yet: call inbox.wait again, or continue with other work first.`;
    return { ...requestResponse(request), next: isSettled(request) ? undefined : next };
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

const SUGGESTION = 'Send next_cursor with the same box and state as before, or omit cursor to start over.';

export const list = defineTool({
  name: 'list',
  title: 'List requests',
  description: 'Lists requests to your owner (received) or made by you (sent), newest first.',
  input: z.strictObject({
    box: z.enum(['received', 'sent']).default('received').describe('Which'),
    state: requestState.optional().describe('State'),
    limit: wholeNumber(1, 100).default(20).describe('Maximum'),
    cursor: textUpTo(4000).optional().describe('Previous next_cursor'),
  }),
  output: z.object({ requests: z.array(requestShape), truncated: z.boolean(), next_cursor: z.string().optional() }),
  ...reading,
  example: { state: 'open' },
  handler: async ({ services, principal }, { box, state, limit, cursor }) => {
    const question = `${box} requests ${state ?? ''}`;
    const place = decodeCursor(question, cursor, SUGGESTION);
    const after = place && { at: new Date(place.order[0] ?? 0), id: place.id };
    const states = state === undefined ? REQUEST_STATES : [state];
    const page = { limit, ...(after && { after }) };
    const { items, more } = await services.inbox.answers.list(principal, box, states, page);
    const given = fittingItems(items, requestResponse);
    const last = given.at(-1);
    const truncated = more || given.length < items.length;
    const end = truncated && last && { order: [last.created_at.getTime()], id: last.id };
    const next_cursor = end ? encodeCursor(question, end) : undefined;
    return { requests: given.map(requestResponse), truncated, next_cursor };
  },
});

export const answer = defineTool({
  name: 'answer',
  title: 'Answer a request',
  description: 'For people: answers an open question or approval in your inbox.',
  details:
    "Answer an approval with approve or refuse, and a choice with one of its options. An agent can answer for its owner if agents_may_answer in the owner's preferences lists the agent, but it cannot answer its own requests. An answer cannot be undone, but you can change your own answer to a question for a minute, until the asker has received it.",
  input: z.strictObject({
    request_id: requestId,
    answer: text('An option, or text', MAX_ANSWER),
    comment: text('For the asker', 2000).optional(),
  }),
  output: requestShape,
  ...writing('viewer', { destructiveHint: false, idempotentHint: true }),
  example: { request_id: 'request-region', answer: 'us-central1' },
  response: requestResponse,
  handler: ({ services, principal, recordResponse }, { request_id: id, ...given }) =>
    services.inbox.answers.answer(principal, id, given, recordResponse),
});
