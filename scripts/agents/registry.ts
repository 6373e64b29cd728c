/** What an operator may do with agents, by the same services as the endpoint. */

import { USUAL_CONFIGURATION } from '../../functions/src/access/rules/agent.ts';
import type { Principal } from '../../functions/src/access/rules/principal.ts';
import { compose } from '../../functions/src/app.ts';
import { systemClock } from '../../functions/src/kernel/platform.ts';
import type { Options } from './arguments.ts';

const unkeyed = {
  argumentsHash: undefined,
  recordAnswer: () => undefined,
  derivedSecret: () => undefined,
  derivedId: () => undefined,
};

export async function create(
  name: string,
  { owner, role, workspace }: Options,
): Promise<{ agentId: string; bearer: string; expiresAt: Date }> {
  const { services } = compose({ clock: systemClock });
  const operator: Principal = { uid: owner, kind: 'person', ownerUid: owner, role: 'admin' };
  const { agent, credential, secret } = await services.registration.register(
    operator,
    {
      name,
      type: role === 'worker' || role === 'viewer' ? 'developer' : 'coordinator',
      version: '1.0.0',
      capabilities: [],
      configuration: USUAL_CONFIGURATION,
      role,
      workspace,
    },
    unkeyed,
    () => undefined,
  );
  return { agentId: agent.id, bearer: `${credential.apiKey}.${secret}`, expiresAt: credential.expiresAt };
}

/** @returns how many credentials there were */
export function revoke(agentId: string): Promise<number> {
  return compose({ clock: systemClock }).services.registration.revoke(agentId);
}
