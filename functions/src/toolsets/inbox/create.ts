import type { AgentLiveness } from '../../agents/rules/liveness.ts';
import type { Store } from '../../kernel/commit.ts';
import type { DocumentSource } from '../../kernel/firestore/reading.ts';
import type { CoordinationPorts } from '../coordination/index.ts';
import { AgentInboxes } from './rules/agentInbox.ts';
import { Answers } from './rules/answering.ts';
import { ApprovalGate } from './rules/approvals.ts';
import { Asking } from './rules/asking.ts';
import { BudgetQuestions } from './rules/budgetQuestions.ts';
import { RequestLostAccess, waitingCallsOf } from './rules/endings.ts';
import { ApprovalExecution, type RunApprovedCall } from './rules/execution.ts';
import type { InboxChange, InboxPorts } from './rules/ports.ts';
import { FirestoreRequestQueries } from './store/requests.ts';

export interface InboxDependencies extends DocumentSource {
  readonly coordination: CoordinationPorts;
  readonly store: Store<InboxChange>;
  readonly liveness: AgentLiveness;
  readonly agentsMayAnswer: InboxPorts['agentsMayAnswer'];
  /** Budget of a run, if the caller that starts the run sets none. */
  readonly budget: { readonly cost_usd: number };
  readonly runApprovedCall: RunApprovedCall;
}

/** Creates the services for asking people questions and approving calls. */
export function createInbox(dependencies: InboxDependencies) {
  const { database, documents, coordination, store, liveness, agentsMayAnswer, budget, runApprovedCall } = dependencies;
  const requests = new FirestoreRequestQueries(database, documents);
  const ports: InboxPorts = { ...coordination, store, requests, liveness, agentsMayAnswer };
  const inbox = { asking: new Asking(ports), answers: new Answers(ports), agentInboxes: new AgentInboxes(ports) };
  return {
    ports,
    budgetQuestions: new BudgetQuestions(ports),
    requestLeaving: new RequestLostAccess(ports),
    waitingCalls: (agentIds: readonly string[]) => waitingCallsOf(ports, agentIds),
    services: {
      inbox,
      approvals: new ApprovalGate({ ...ports, budget }),
      approvedCalls: new ApprovalExecution({ ...ports, runApprovedCall: runApprovedCall }),
    },
  };
}

export type InboxServices = ReturnType<typeof createInbox>['services'];
