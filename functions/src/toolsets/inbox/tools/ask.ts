import { z } from 'zod';
import { idOf } from '../../../kernel/ids.ts';
import { guidance, listUpTo } from '../../../mcp/tool.ts';
import { text } from '../../coordination/index.ts';
import { REQUEST_KINDS, type Request } from '../rules/request.ts';
import { defineTool, requestAnswer, requestShape } from './requestAnswers.ts';

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
