/** Who may act as which agent. Source: docs/semantics.md#who-may-do-what. */
import { MusterError } from '../errors.ts';
import { hasRole, type Principal } from '../principal.ts';
import type { Agent } from './agent.ts';

/**
 * Lets a caller act as an agent: as itself, as any agent for leaders and admins, as an own one for people.
 * @throws MusterError FORBIDDEN
 */
export function authoriseActing(principal: Principal, agentId: string, agent: Agent | undefined): void {
  if (principal.agentId === agentId || hasRole(principal.role, 'leader')) return;
  if (principal.kind === 'person' && agent?.ownerUid === principal.uid) return;
  throw forbiddenToAct(principal, agentId);
}

export function forbiddenToAct(principal: Principal, agentId: string): MusterError {
  const own = principal.agentId === undefined ? '' : ` You are "${principal.agentId}".`;
  return new MusterError('FORBIDDEN', `You may not act as agent "${agentId}".${own}`, {
    field: 'agent_id',
    value: agentId,
    suggestion: 'Use your own agent id; only a leader or an admin acts for another agent.',
  });
}
