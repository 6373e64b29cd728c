/** The one gate in front of every tool and resource. Source: docs/semantics.md#who-may-do-what. */

import type { CredentialAuthenticator } from '../access/rules/authentication.ts';
import { type Need, refusalFor } from '../access/rules/gate.ts';
import { accessOf, type Principal } from '../access/rules/principal.ts';
import type { PortOf } from '../kernel/ports.ts';
import type { RequestContext } from './callContext.ts';

export interface AuthorisationPorts {
  readonly authenticator: Pick<PortOf<CredentialAuthenticator>, 'authenticate' | 'authenticateAnew'>;
}

/**
 * Lets a call through, with the caller as it is now where what was known of it would not do: who was let in a moment
 * ago is in at once, and nobody comes into a workspace that somebody else has opened a moment ago.
 * @throws MusterError FORBIDDEN
 */
export async function admit(
  { authenticator }: AuthorisationPorts,
  requestContext: RequestContext,
  need: Need,
): Promise<RequestContext> {
  const { principal, workspace, credential } = requestContext;
  if (refusalFor(principal, workspace, need) === undefined && !isUnopened(principal, workspace, need))
    return requestContext;
  const now = await authenticator.authenticateAnew(credential);
  authorise(now, workspace, need);
  return { ...requestContext, principal: now };
}

function isUnopened({ owner }: Principal, workspace: string, { scope }: Need): boolean {
  return scope === 'workspace' && accessOf(owner.access, workspace) === undefined;
}

/** @throws MusterError FORBIDDEN */
export function authorise(principal: Principal, workspace: string, need: Need): void {
  const refusal = refusalFor(principal, workspace, need);
  if (refusal !== undefined) throw refusal;
}
