/** The person's role in the current workspace, by which the page hides what they may not do. */
import { computed } from '@preact/signals';
import { workspace } from '../router.ts';
import { memberships } from './memberships.ts';

const ORDER = ['viewer', 'worker', 'leader', 'admin'] as const;
export type Role = (typeof ORDER)[number];

/** Undefined until it is known. A person who only administers the workspace is an admin there. */
export const role = computed<Role | undefined>(() => {
  const known = memberships.value;
  if (typeof known !== 'object') return undefined;
  const here = workspace.value;
  if (known.administered.includes(here)) return 'admin';
  return ORDER.find((one) => one === known.roles[here]);
});

/** Returns whether the person has at least a role. The tools decide; until the role is known, everything is offered. */
export function mayAs(least: Role): boolean {
  const own = role.value;
  return own === undefined || ORDER.indexOf(own) >= ORDER.indexOf(least);
}
