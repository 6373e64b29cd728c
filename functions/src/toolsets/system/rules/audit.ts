/** The trail as people and agents may see it. Source: docs/decisions/0036-trail.md; docs/semantics.md#taking-back. */

import type { AccessPorts } from '../../../access/rules/ports.ts';
import { type Principal, roleIn } from '../../../identity/rules/principal.ts';
import { hasRole } from '../../../identity/rules/role.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { type Page, type VisibleSlice, visiblePage } from '../../../kernel/paging.ts';
import { Service } from '../../../kernel/ports.ts';
import type { Effect, TrailEntry } from '../../../kernel/trail.ts';
import type { TrailFilter, TrailQueries } from './ports.ts';

export type { TrailFilter };

export interface TrailPorts extends AccessPorts {
  readonly trail: TrailQueries;
}

/** What a caller asks for: what was done on their owner's behalf, or what was done in the workspace of the call. */
export interface AuditRequest extends Pick<TrailFilter, 'narrowed' | 'since' | 'until'> {
  readonly of: 'mine' | 'workspace';
}

export class AuditTrail extends Service<Pick<TrailPorts, 'trail'>> {
  /**
   * Newest first. What an entry tells of others' to-dos and the like is left out, and so are entries of which nothing is
   * left; the page is then filled with older ones.
   * @throws MusterError FORBIDDEN for a workspace that the caller does not lead
   */
  async list(
    principal: Principal,
    workspace: string,
    { of, ...narrowing }: AuditRequest,
    page: Page,
  ): Promise<VisibleSlice<TrailEntry>> {
    if (of === 'workspace') requireLeading(principal, workspace);
    const filter = { whose: of === 'mine' ? ownOf(principal) : { workspace }, ...narrowing };
    return visiblePage(
      page,
      (next) => this.ports.trail.list(filter, next),
      ({ at, id }) => ({ at, id }),
      (entry) => seenBy(principal, entry),
    );
  }
}

/** The entries of the caller's owner; for a restricted credential, only those of calls in its workspace. */
export function ownOf({ owner_uid, held_to }: Principal): TrailFilter['whose'] {
  return { ownerUid: owner_uid, calledIn: held_to };
}

/** The entry with the effects that the caller may see; undefined if there are none, which would tell of hidden things. */
function seenBy(principal: Principal, entry: TrailEntry): TrailEntry | undefined {
  const effects = entry.effects.filter((effect) => maySee(principal, entry, effect));
  return effects.length === 0 ? undefined : { ...entry, effects };
}

/** Kinds of things that belong to no workspace and name several in their fields. */
const NAMES_WORKSPACES = ['agent', 'subscription'];

/**
 * What belongs to a workspace is seen by its leaders, and by its other members if they did it. What belongs to a person is
 * seen by them and their agents: by a restricted credential if it was called in its workspace and names no other.
 */
export function maySee(principal: Principal, { by }: TrailEntry, effect: Effect): boolean {
  const isOwn = by.owner_uid === principal.owner_uid;
  if (effect.workspace !== undefined) {
    const role = roleIn(principal, effect.workspace);
    return role !== undefined && (isOwn || hasRole(role, 'leader'));
  }
  if (effect.owner_uid !== principal.owner_uid) return false;
  const { held_to } = principal;
  return held_to === undefined || (by.workspace === held_to && !NAMES_WORKSPACES.includes(effect.kind));
}

/** The workspace of the call, if the caller may know its name: others' calls may come from a private workspace. */
export function callWorkspace(principal: Principal, { by }: TrailEntry): string | undefined {
  const isOwn = by.owner_uid === principal.owner_uid && principal.held_to === undefined;
  return isOwn || roleIn(principal, by.workspace) !== undefined ? by.workspace : undefined;
}

function requireLeading(principal: Principal, workspace: string): void {
  const role = roleIn(principal, workspace);
  if (role !== undefined && hasRole(role, 'leader')) return;
  throw new MusterError('FORBIDDEN', `Only leaders see what others did in the workspace "${workspace}".`, {
    field: 'of',
    value: 'workspace',
    reason: 'ROLE_TOO_WEAK',
    suggestion: 'Leave "of" out for what was done by you and on your behalf.',
  });
}
