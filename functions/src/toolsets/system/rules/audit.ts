/** Visibility of the audit log. Source: docs/decisions/0036-trail.md; docs/semantics.md#undo. */
import type { AccessPorts } from '../../../access/rules/ports.ts';
import { terminalId } from '../../../agents/rules/agent.ts';
import { hasRoleIn, type Principal, roleIn } from '../../../identity/rules/principal.ts';
import type { AuditEffect, AuditEntry } from '../../../kernel/auditLog.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { type PageRequest, type VisiblePage, visiblePage } from '../../../kernel/paging.ts';
import { Service } from '../../../kernel/ports.ts';
import type { AuditFilter, AuditLogQueries } from './ports.ts';

export type { AuditFilter };

export interface AuditLogPorts extends AccessPorts {
  readonly trail: AuditLogQueries;
}

/** `mine`: changes made on behalf of the caller's owner; `workspace`: changes of items in the call's workspace. */
export interface AuditRequest extends Pick<AuditFilter, 'narrowed' | 'since' | 'until'> {
  readonly of: 'mine' | 'workspace';
}

export class AuditLog extends Service<Pick<AuditLogPorts, 'trail' | 'hashing'>> {
  /** Returns the filter for an agent: by its id, or by the name under which the caller's credential registered it. */
  byAgent(principal: Principal, name: string) {
    return { agentIds: [name, terminalId(this.ports.hashing, principal, name)] };
  }

  /** Lists entries, newest first, with visible changes only. @throws MusterError FORBIDDEN unless a leader calls */
  async list(
    principal: Principal,
    workspace: string,
    { of, ...narrowing }: AuditRequest,
    page: PageRequest,
  ): Promise<VisiblePage<AuditEntry>> {
    if (of === 'workspace' && !hasRoleIn(principal, workspace, 'leader'))
      throw new MusterError(
        'FORBIDDEN',
        `Only leaders can see other callers' changes in the workspace "${workspace}".`,
        {
          field: 'of',
          value: 'workspace',
          reason: 'ROLE_TOO_WEAK',
          suggestion: 'Omit "of" to list changes made by you or on your behalf.',
        },
      );
    const filter = { whose: of === 'mine' ? ownOf(principal) : { workspace }, ...narrowing };
    return visiblePage(
      page,
      (next) => this.ports.trail.list(filter, next),
      ({ at, id }) => ({ at, id }),
      // An entry without visible changes is hidden, so that hidden items are not revealed.
      (entry) => {
        const effects = entry.effects.filter((effect) => canSee(principal, entry, effect));
        return effects.length === 0 ? undefined : { ...entry, effects };
      },
    );
  }
}

/** Selects entries of the caller's owner; if the credential is restricted to a workspace, only of calls there. */
export function ownOf({ owner_uid, held_to }: Principal): AuditFilter['whose'] {
  return { ownerUid: owner_uid, calledIn: held_to };
}

/** Kinds of items that belong to no workspace, but contain names of workspaces. */
const NAMES_WORKSPACES = ['agent', 'subscription'];

/**
 * Whether the caller may see a change. Leaders see all changes of a workspace, members only their own. Owners and
 * their agents see changes of the owner's items; with a restricted credential, only those of calls in its workspace.
 */
export function canSee(principal: Principal, { by }: AuditEntry, effect: AuditEffect): boolean {
  const isOwn = by.owner_uid === principal.owner_uid;
  if (effect.workspace !== undefined)
    return isOwn ? roleIn(principal, effect.workspace) !== undefined : hasRoleIn(principal, effect.workspace, 'leader');
  if (effect.owner_uid !== principal.owner_uid) return false;
  const { held_to } = principal;
  return held_to === undefined || (by.workspace === held_to && !NAMES_WORKSPACES.includes(effect.kind));
}

/** Returns the workspace of the entry's call, or undefined if the caller may not know its name. */
export function callWorkspace(principal: Principal, { by }: AuditEntry): string | undefined {
  const isOwn = by.owner_uid === principal.owner_uid && principal.held_to === undefined;
  return isOwn || roleIn(principal, by.workspace) !== undefined ? by.workspace : undefined;
}
