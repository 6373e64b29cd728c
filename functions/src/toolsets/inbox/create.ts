import type { AgentLiveness } from '../../agents/rules/liveness.ts';
import type { BudgetPorts } from '../../graph/rules/ports.ts';
import type { AuditEffect } from '../../kernel/auditLog.ts';
import type { Store } from '../../kernel/commit.ts';
import type { ConsoleLinks } from '../../kernel/consoleLinks.ts';
import type { DocumentSource } from '../../kernel/firestore/reading.ts';
import type { CoordinationPorts, Proofs } from '../coordination/index.ts';
import { AgentInboxes } from './rules/agentInbox.ts';
import { Answers } from './rules/answering.ts';
import { ApprovalGate } from './rules/approvals.ts';
import { Asking } from './rules/asking.ts';
import { BudgetQuestions } from './rules/budgetQuestions.ts';
import { RequestLostAccess, undoRequest, waitingCallsOf } from './rules/endings.ts';
import { ApprovalExecution, type RunApprovedCall } from './rules/execution.ts';
import type { InboxChange, InboxPorts } from './rules/ports.ts';
import type { Request } from './rules/request.ts';
import { FirestoreRequestQueries } from './store/requests.ts';
import { clientQuestions } from './tools/clientQuestions.ts';

export interface InboxDependencies extends DocumentSource {
  readonly coordination: CoordinationPorts & BudgetPorts;
  readonly consoleLinks: ConsoleLinks;
  readonly store: Store<InboxChange>;
  readonly liveness: AgentLiveness;
  readonly proofs: Proofs;
  readonly agentsMayAnswer: InboxPorts['agentsMayAnswer'];
  /** Budget of a run, if the caller that starts the run sets none. */
  readonly budget: { readonly cost_usd: number };
  readonly runApprovedCall: RunApprovedCall;
}

/** Creates the services for asking people questions and approving calls. */
export function createInbox(dependencies: InboxDependencies) {
  const { database, documents, coordination, consoleLinks, budget, runApprovedCall, ...others } = dependencies;
  const requests = new FirestoreRequestQueries(database, documents);
  const ports = { ...coordination, ...others, requests };
  const answers = new Answers(ports);
  const budgetQuestions = new BudgetQuestions(ports);
  const pageOf = ({ id, workspace }: Request) => consoleLinks.to({ kind: 'request', id, workspace });
  const questions = clientQuestions(answers, budgetQuestions, pageOf);
  const inbox = { answers, asking: new Asking(ports), agentInboxes: new AgentInboxes(ports), questions };
  return {
    ports,
    budgetQuestions,
    requestLeaving: new RequestLostAccess(ports),
    inverses: { request: (effect: AuditEffect) => undoRequest(effect, ports.clock.now()) },
    waitingCalls: (agentIds: readonly string[]) => waitingCallsOf(ports, agentIds),
    calls: { approvals: new ApprovalGate({ ...ports, budget }), questions: inbox.questions },
    services: { inbox, approvedCalls: new ApprovalExecution({ ...ports, runApprovedCall }) },
  };
}

export type InboxServices = ReturnType<typeof createInbox>['services'];
