/** The trail as people and agents may see it. Source: docs/decisions/0036-trail.md; docs/semantics.md#taking-back. */
import { type AccessPorts, hasRole, type Principal, roleIn } from '../../../access/rules/principal.ts';
import { MusterError } from '../../../kernel/errors.ts';
import type { Page, Slice } from '../../../kernel/paging.ts';
import { type PortOf, Service } from '../../../kernel/ports.ts';
import type { Effect, TrailEntry } from '../../../kernel/trail.ts';
import type { TrailFilter, TrailQueries } from '../store/trail.ts';

export type { TrailFilter };

export interface TrailPorts extends AccessPorts {
  readonly trail: PortOf<TrailQueries>;
}

/** What a caller asks for: what was done on their owner's behalf, or what was done in the workspace of the call. */
export interface AuditRequest extends Pick<TrailFilter, 'narrowed' | 'since' | 'until'> {
  readonly of: 'mine' | 'workspace';
}

export class AuditTrail extends Service<TrailPorts> {
  /**
   * Newest first. What an entry tells of others' to-dos and the like is left out.
   * @throws MusterError FORBIDDEN for a workspace that the caller does not lead
   */
  async list(
    principal: Principal,
    workspace: string,
    { of, ...narrowing }: AuditRequest,
    page: Page,
  ): Promise<Slice<TrailEntry>> {
    if (of === 'workspace') requireLeading(principal, workspace);
    const whose = of === 'mine' ? { ownerUid: principal.ownerUid } : { workspace };
    const { items, more } = await this.ports.trail.list({ whose, ...narrowing }, page);
    return { items: items.map((entry) => seenBy(principal, entry)), more };
  }
}

/** The entry with the effects alone that the caller may see. */
function seenBy(principal: Principal, entry: TrailEntry): TrailEntry {
  return { ...entry, effects: entry.effects.filter((effect) => maySee(principal, entry, effect)) };
}

/**
 * What belongs to a workspace is seen by whoever works in it as far as they did it themselves, and by its leaders;
 * what belongs to a person, by them and their agents.
 */
export function maySee(principal: Principal, { by }: TrailEntry, effect: Effect): boolean {
  const isOwn = by.ownerUid === principal.ownerUid;
  if (effect.workspace !== undefined) {
    const role = roleIn(principal, effect.workspace);
    return role !== undefined && (isOwn || hasRole(role, 'leader'));
  }
  return effect.ownerUid === principal.ownerUid;
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
