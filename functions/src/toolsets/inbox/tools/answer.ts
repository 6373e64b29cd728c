import { z } from 'zod';
import { text } from '../../coordination/index.ts';
import { MAX_ANSWER } from '../rules/request.ts';
import { defineTool, requestAnswer, requestId, requestShape } from './requestAnswers.ts';

export const answer = defineTool({
  name: 'answer',
  title: 'Answer a request',
  description: 'For people: answers what was asked of you, once.',
  details:
    'An approval takes approve or refuse, a choice one of its options. An agent answers for its owner only where they have named it in agents_may_answer of their preferences, and never what it has asked itself. An answer cannot be taken back.',
  input: z.strictObject({
    request_id: requestId,
    answer: text('An option, or words', MAX_ANSWER),
    comment: text('For who asked', 2000).optional(),
  }),
  output: requestShape,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  loosens: [],
  role: 'viewer',
  example: { request_id: 'request-region', answer: 'us-central1' },
  answer: requestAnswer,
  handler: ({ services, principal, recordAnswer }, { request_id: id, ...given }) =>
    services.inbox.answers.answer(principal, id, given, recordAnswer),
});
