/** IAM policies. Source: https://cloud.google.com/iam/docs/reference/rest/v1/Policy */
import { z } from 'zod';

const binding = z.looseObject({
  role: z.string(),
  members: z.array(z.string()).default([]),
  condition: z.looseObject({}).optional(),
});

/** Keeps all other fields unchanged when the policy is written back. */
export const policy = z.looseObject({ bindings: z.array(binding).default([]) });

export type Policy = z.output<typeof policy>;

/** Returns the roles that a member has without a condition. */
export function rolesIn({ bindings }: Policy, member: string): readonly string[] {
  return bindings
    .filter(({ members, condition }) => condition === undefined && members.includes(member))
    .map(({ role }) => role);
}

/** Returns the policy with more roles for a member. */
export function granting(given: Policy, member: string, roles: readonly string[]): Policy {
  const lacking = roles.filter((role) => !rolesIn(given, member).includes(role));
  const bindings = lacking.map((role) => ({ role, members: [member] }));
  return { ...given, bindings: [...given.bindings, ...bindings] };
}

/** Returns a service account as policies name it. */
export function serviceAccountMember(email: string): string {
  return `serviceAccount:${email}`;
}
