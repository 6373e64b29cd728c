import { z } from 'zod';
import { defineTool, wholeNumber } from '../../../mcp/tool.ts';
import { isSettled } from '../rules/answering.ts';
import { reading, requestAnswer, requestId, requestShape } from './shapes.ts';

const MAX_WAIT_MS = 25_000;

export const wait = defineTool({
  name: 'wait',
  title: 'Wait for an answer',
  description: 'Waits until a request is answered, expired or withdrawn. While it is open, call again.',
  input: z.strictObject({
    request_id: requestId,
    wait_ms: wholeNumber(0, MAX_WAIT_MS).default(20_000).describe('Milliseconds; 0 answers at once'),
  }),
  output: requestShape.extend({ next: z.string().optional() }),
  annotations: reading,
  role: 'viewer',
  example: { request_id: 'request-region', wait_ms: 0 },
  handler: async ({ services, principal, gone, waiting }, { request_id: id, wait_ms: milliseconds }) => {
    const request = await services.inbox.answers.wait(principal, id, milliseconds, { gone, waiting });
    const next = isSettled(request)
      ? undefined
      : `${request.askedOfName} has not answered yet: call inbox.wait again, or do something else meanwhile.`;
    return { ...requestAnswer(request), next };
  },
});
