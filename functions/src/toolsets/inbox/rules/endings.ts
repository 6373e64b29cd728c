/** Calls that wait for approval end with the credential that made them. Source: docs/decisions/0033-asking-people.md. */
import { agentUid } from '../../../access/rules/principal.ts';
import type { WaitingCall } from '../../../access/rules/revocation.ts';
import type { InboxPorts } from './ports.ts';
import { revoked } from './request.ts';

/** More calls than an agent can have people asked about in the time that a request is open. */
const MAX_WAITING = 500;

/** Returns the calls of agents that wait for approval, each with the change that ends it. */
export async function waitingCallsOf(
  { requests, clock }: Pick<InboxPorts, 'requests' | 'clock'>,
  agentIds: readonly string[],
): Promise<readonly WaitingCall[]> {
  const found = await Promise.all(agentIds.map((agentId) => requests.openOf(agentUid(agentId), MAX_WAITING)));
  const now = clock.now();
  return found.flat().flatMap(({ value: before, version }) => {
    const request = revoked(before, now);
    const { call, askedByAgent: agentId } = before;
    if (request === undefined || call?.lineage === undefined || agentId === undefined) return [];
    const ended = { kind: 'replaceRequest', request, before, version } as const;
    return [{ id: before.id, agentId, lineage: call.lineage, ended }];
  });
}
