/** How workspaces come into being. Source: docs/decisions/0006-roles-and-registration.md. */
import {
  accessOf,
  noRoleIn,
  type PersonRoles,
  type Principal,
  personsRoleIn,
} from '../../identity/rules/principal.ts';
import type { WorkspaceAccess } from '../../identity/rules/role.ts';
import { MusterError } from '../../kernel/errors.ts';
import type { AccessChange, AccessPorts } from './ports.ts';

/** Whoever opens a workspace; its owner leads it from then on. */
export interface Opener extends Pick<Principal, 'uid' | 'owner_uid'> {
  /** As the call was let through. Absent: the call is over, and what it has begun goes on. */
  readonly owner?: PersonRoles;
}

type WorkspacePorts = Pick<AccessPorts, 'roles' | 'workspaces'>;

/**
 * What the commit that opens the first session of a workspace says of who may come in: it is private, and its opener's
 * owner leads it. Nothing where the workspace is known already.
 * @param opener absent where the caller is known to be in the workspace
 * @param workspace `isThere`: whether it has a document
 * @throws MusterError FORBIDDEN where somebody else has opened it since the call was let through; CONFLICT
 */
export async function openingChanges(
  ports: WorkspacePorts,
  opener: Opener | undefined,
  { name, isThere }: { readonly name: string; readonly isThere: boolean },
  now: Date,
): Promise<AccessChange[]> {
  if (opener === undefined || (opener.owner === undefined && isThere)) return [];
  if (accessOf(opener.owner?.access ?? {}, name) !== undefined) return [];
  const owner = await ports.roles.of(opener.owner_uid);
  if (accessOf(owner.access, name) !== undefined) {
    if (personsRoleIn(owner, name) === undefined) throw noRoleIn(name);
    return [];
  }
  if (isThere) return [];
  await requireFree(ports, name, owner.access);
  return foundingChanges(opener, name, 'private', now);
}

/** The entry of a new workspace, and its first leader. */
export function foundingChanges(
  { uid, owner_uid }: Opener,
  workspace: string,
  access: WorkspaceAccess,
  now: Date,
): AccessChange[] {
  const member = { uid: owner_uid, workspace, role: 'leader', added_by: uid, added_at: now } as const;
  return [
    { kind: 'nameWorkspace', workspace, access },
    { kind: 'setMember', member },
  ];
}

/** All are listed in one document, which every call goes by. */
const MAX_WORKSPACES = 2000;

/** Under these names lies what belongs to the default workspace. Source: the network specification. */
const RESERVED: readonly string[] = ['agents', 'conversations'];

/** Data under the name would become the workspace's. @throws MusterError CONFLICT, the same whatever has the name */
export async function requireFree(
  { workspaces }: Pick<AccessPorts, 'workspaces'>,
  workspace: string,
  access: PersonRoles['access'],
): Promise<void> {
  if (Object.keys(access).length >= MAX_WORKSPACES) {
    throw new MusterError('QUOTA_EXCEEDED', `This deployment has ${MAX_WORKSPACES} workspaces.`, {
      suggestion: 'Use one that there is: access.whoami shows those in which you have a role.',
    });
  }
  const isTaken = RESERVED.includes(workspace) || accessOf(access, workspace) !== undefined;
  if (isTaken || (await workspaces.hasData(workspace))) throw notAvailable(workspace);
}

export function notAvailable(workspace: string): MusterError {
  return new MusterError('CONFLICT', `The name "${workspace}" is not available for a workspace.`, {
    reason: 'NAME_NOT_AVAILABLE',
    suggestion: 'Choose another name. access.whoami shows the workspaces in which you have a role.',
  });
}
