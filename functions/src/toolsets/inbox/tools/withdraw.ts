import { z } from 'zod';
import { defineTool, requestAnswer, requestId, requestShape } from './requestAnswers.ts';

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
