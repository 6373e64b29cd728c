/** Grants a member roles in a policy, without overwriting concurrent changes of the policy. */
import type { Api } from './apis.ts';
import type { Google } from './client.ts';
import type { Result } from './failure.ts';
import { granting, type Policy, policy, rolesIn } from './policy.ts';

const ATTEMPTS = 6;
const PAUSE_MS = 5000;

/**
 * Policy version that has conditions. If a policy is read without its conditions and written back, the conditions are
 * lost. Source: https://cloud.google.com/iam/docs/policies#versions
 */
const WITH_CONDITIONS = { 'options.requestedPolicyVersion': '3' };

/** Resource that has an IAM policy. */
export interface Granted {
  readonly api: Api;
  /** `v1/projects/p/topics/t` */
  readonly path: string;
  /** HTTP method of the request that reads the policy. */
  readonly reading: 'GET' | 'POST';
}

/**
 * Grants the roles. Retries after two kinds of errors: Google refuses the etag, because the policy was changed at the
 * same time; or one of Google's servers does not know a recently created account yet.
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
    const written = await google.send({ method: 'POST', api, path: `${path}:setIamPolicy`, body, schema: policy });
    if (written.ok || attempt === ATTEMPTS || !mayPass(written.failure.status, written.failure.message)) return written;
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
