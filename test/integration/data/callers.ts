/** Callers of every kind, as the endpoint passes them to the services. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Caller, Principal } from '../../../functions/src/identity/rules/principal.ts';
import type { Role } from '../../../functions/src/identity/rules/role.ts';
import type { Operation } from '../../../functions/src/kernel/commit.ts';
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import { agentOf, personOf } from '../../support/principals.ts';
import { signIn } from '../../support/signIn.ts';

/** Returns an agent. Its credential is empty, because the services do not check credentials. */
export function agentCaller(role: Role): Caller {
  const agentId = `agent-${randomUUID().slice(0, 13)}`;
  const principal: Principal = agentOf(agentId, 'ada', role);
  return { principal, credential: '' };
}

/** Returns a person who has just signed in, with an ID token. */
export async function personCaller(role: Role): Promise<Caller> {
  const uid = `person-${randomUUID().slice(0, 13)}`;
  return { principal: personOf(uid, role), credential: await signIn(uid, { role }) };
}

/** The operation that a service gets for a call without an idempotency key. */
export const UNKEYED: Operation = {
  argumentsHash: undefined,
  recordResponse: () => undefined,
  derivedSecret: () => undefined,
  derivedId: () => undefined,
};

/** Returns a check for assert.rejects: the error must have this `reason`. */
export function because(reason: string): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof MusterError, String(error));
    assert.equal(error.details.reason, reason, error.message);
    return true;
  };
}
