/** Gives roles, beside those that are given already. Nobody else's change in between is lost. */
import type { Api } from './apis.ts';
import type { Google } from './client.ts';
import type { Result } from './failure.ts';
import { granting, type Policy, policy, rolesIn } from './policy.ts';

const ATTEMPTS = 6;
const PAUSE_MS = 5000;

/**
 * Whoever asks for less is told less, and what is written back lacks the conditions that others have set.
 * Source: https://cloud.google.com/iam/docs/policies#versions
 */
const WITH_CONDITIONS = { 'options.requestedPolicyVersion': '3' };

/** What a policy hangs on. */
export interface Granted {
  readonly api: Api;
  /** `v1/projects/p/topics/t` */
  readonly path: string;
  /** How its policy is asked for. */
  readonly reading: 'GET' | 'POST';
}

/**
 * Another change in between makes Google refuse the etag, and an account that was made a moment ago is not known
 * everywhere: both pass, so that it is tried again.
 */
export async function grant(
  google: Google,
  { api, path, reading }: Granted,
  roles: Readonly<Record<string, readonly string[]>>,
): Promise<Result<Policy>> {
  const read = () => {
    const asked = { api, path: `${path}:getIamPolicy`, schema: policy };
    if (reading === 'GET') return google.get({ ...asked, query: WITH_CONDITIONS });
    return api === 'cloudresourcemanager.googleapis.com'
      ? google.send({ method: 'POST', ...asked, body: { options: { requestedPolicyVersion: 3 } } })
      : google.send({ method: 'POST', ...asked, query: WITH_CONDITIONS, body: {} });
  };
  for (let attempt = 1; ; attempt++) {
    const before = await read();
    if (!before.ok) return before;
    const after = withRoles(before.value, roles);
    if (after === before.value) return before;
    const body = { policy: after };
    const written = await google.send({
      method: 'POST',
      api,
      path: `${path}:setIamPolicy`,
      body,
      schema: policy,
    });
    if (written.ok || attempt === ATTEMPTS || !mayPass(written.failure.status, written.failure.message))
      return written;
    await google.pause(PAUSE_MS);
  }
}

function withRoles(before: Policy, roles: Readonly<Record<string, readonly string[]>>): Policy {
  const lacking = Object.entries(roles).filter(([member, wanted]) =>
    wanted.some((role) => !rolesIn(before, member).includes(role)),
  );
  return lacking.reduce((given, [member, wanted]) => granting(given, member, wanted), before);
}

function mayPass(status: number, message: string): boolean {
  return status === 409 || (status === 400 && /does not exist/.test(message));
}
