import { MusterError } from '../../domain/errors.ts';
import { hasRole, type Principal } from '../../domain/principal.ts';

/**
 * Whose to-dos a caller changes. They are a person's own, whatever the person's role; an agent that may only
 * look elsewhere may only look here.
 * @throws MusterError FORBIDDEN
 */
export function writingOwner({ kind, role, ownerUid }: Principal): string {
  if (kind === 'person' || hasRole(role, 'worker')) return ownerUid;
  throw new MusterError('FORBIDDEN', `To change to-dos an agent needs the role worker; yours is ${role}.`, {
    reason: 'ROLE_TOO_WEAK',
    suggestion: 'Ask the person whose to-dos they are, or for a credential with the role worker.',
  });
}
