/** IAM policies. Source: https://cloud.google.com/iam/docs/reference/rest/v1/Policy */
import { z } from 'zod';

const binding = z.looseObject({
  role: z.string(),
  members: z.array(z.string()).default([]),
  condition: z.looseObject({}).optional(),
});

/** Other fields are kept, because the policy is written back later. */
export const policy = z.looseObject({ bindings: z.array(binding).default([]) });
export type Policy = z.output<typeof policy>;

/** Returns the roles that the policy grants to a member without a condition. */
export function rolesIn({ bindings }: Policy, member: string): readonly string[] {
  return bindings
    .filter(({ members, condition }) => condition === undefined && members.includes(member))
    .map(({ role }) => role);
}

/** Returns a copy of the policy that grants a member more roles. */
export function granting(given: Policy, member: string, roles: readonly string[]): Policy {
  const lacking = roles.filter((role) => !rolesIn(given, member).includes(role));
  const bindings = lacking.map((role) => ({ role, members: [member] }));
  return { ...given, bindings: [...given.bindings, ...bindings] };
}

/** Returns the form in which policies name a service account. */
export function serviceAccountMember(email: string): string {
  return `serviceAccount:${email}`;
}
