/** The one gate in front of every tool and resource. Source: docs/semantics.md#who-may-do-what. */
import { MusterError } from '../domain/errors.ts';
import { hasRole, type Principal, type Role } from '../domain/principal.ts';

/** Whether the principal may use the toolset at all. */
export function mayUse(principal: Principal, toolset: string): boolean {
  return principal.toolsets === undefined || principal.toolsets.includes(toolset);
}

/**
 * @param what the tool or resource, as its caller knows it
 * @throws MusterError FORBIDDEN
 */
export function authorise(principal: Principal, toolset: string, least: Role, what: string): void {
  if (!mayUse(principal, toolset)) {
    throw new MusterError('FORBIDDEN', `You may not use the toolset ${toolset}.`, {
      reason: 'TOOLSET_NOT_ALLOWED',
      suggestion: `Your toolsets: ${principal.toolsets?.join(', ') || 'none'}. Ask a leader for a credential with ${toolset}.`,
    });
  }
  if (!hasRole(principal.role, least)) {
    throw new MusterError('FORBIDDEN', `${what} needs the role ${least}; yours is ${principal.role}.`, {
      reason: 'ROLE_TOO_WEAK',
      suggestion: `Ask an agent or a person with the role ${least}, or for a credential with that role.`,
    });
  }
}
