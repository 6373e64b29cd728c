/** Requests that the caller's client may show to its user. Source: docs/decisions/0033-asking-people.md. */
import { z } from 'zod';
import { isVisible } from '../../../kernel/hiddenCharacters.ts';
import type { ClientQuestions } from '../../../mcp/callContext.ts';
import type { Answers } from '../rules/answering.ts';
import type { BudgetQuestions } from '../rules/budgetQuestions.ts';
import { isAskedAtClient, isShownAtClient, MAX_ANSWER, optionsOf, type Request } from '../rules/request.ts';

const ANSWER = 'answer';
const typedAnswer = z.object({ [ANSWER]: z.string().trim().refine(isVisible).max(MAX_ANSWER) });

/** Time that a call waits for the person's decision. The whole call may take 50 seconds. */
const DECISION_MS = 25_000;

/** @param pageOf returns the address of the console's page of a request */
export function clientQuestions(
  answers: Answers,
  budgetQuestions: BudgetQuestions,
  pageOf: (request: Request) => string,
): ClientQuestions {
  return {
    async pending(principal, waitsFor) {
      const id = 'request' in waitsFor ? waitsFor.request : await budgetQuestions.requestOf(waitsFor.budget);
      const request = id === undefined ? undefined : await answers.findOpen(principal, id);
      if (request === undefined || !isShownAtClient(request, principal)) return new Map();
      const form = { field: ANSWER, title: 'Your answer', options: optionsOf(request) };
      // An approval, or a question of another agent, must be answered by the person, and not through this client.
      const isForm = isAskedAtClient(request, principal);
      return new Map([[request.id, { message: request.question, url: pageOf(request), ...(isForm && { form }) }]]);
    },
    shown(principal, id, { action, content }, record) {
      const { data } = typedAnswer.safeParse(action === 'accept' ? content : undefined);
      return answers.shownAtClient(principal, id, data?.[ANSWER], record);
    },
    decided: (principal, id, poll) => answers.wait(principal, id, DECISION_MS, poll),
  };
}
