/** Creation of workspaces. Source: docs/decisions/0006-roles-and-registration.md. */
import { accessOf, noRoleIn, type PersonRoles, type Principal, personsRoleIn } from '../../identity/rules/principal.ts';
import type { WorkspaceAccess } from '../../identity/rules/role.ts';
import { MusterError } from '../../kernel/errors.ts';
import type { AccessChange, AccessPorts } from './ports.ts';

/** Caller that creates a workspace. Its owner becomes the workspace's first leader. */
export interface WorkspaceCreator extends Pick<Principal, 'uid' | 'owner_uid'> {
  /** Roles of the owner when the call was authorized; absent if a run continues the work after the call. */
  readonly owner?: PersonRoles;
}

type WorkspacePorts = Pick<AccessPorts, 'roles' | 'workspaces'>;

/**
 * Returns the access changes for the first session of a workspace: the workspace becomes private, and the caller's
 * owner becomes its leader. Returns no changes if the workspace already has an access setting.
 * @param opener caller that starts the session; absent if the caller has a role in the workspace
 * @param workspace its name, and whether it has a document (`isThere`)
 * @throws MusterError FORBIDDEN if another caller has created the workspace in the meantime; CONFLICT
 */
export async function createWorkspaceChanges(
  ports: WorkspacePorts,
  opener: WorkspaceCreator | undefined,
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
  await requireAvailableName(ports, name, owner.access);
  return firstWorkspaceChanges(opener, name, 'private', now);
}

/** Returns the changes that create a workspace with its first leader. */
export function firstWorkspaceChanges(
  { uid, owner_uid }: WorkspaceCreator,
  workspace: string,
  access: WorkspaceAccess,
  now: Date,
): AccessChange[] {
  const member = { uid: owner_uid, workspace, role: 'leader', added_by: uid, added_at: now } as const;
  return [
    // In this order, because the Firestore emulator shows the writes of one commit to readers one after the other.
    { kind: 'setMember', member },
    { kind: 'nameWorkspace', workspace, access },
  ];
}

/** Maximum number of workspaces. One document lists all of them, and every call reads it. */
const MAX_WORKSPACES = 2000;

/** Names under which the default workspace has data. Source: the network specification. */
const RESERVED: readonly string[] = ['agents', 'conversations'];

/** Checks that a workspace name is free and has no data. @throws MusterError CONFLICT or QUOTA_EXCEEDED */
export async function requireAvailableName(
  { workspaces }: Pick<AccessPorts, 'workspaces'>,
  workspace: string,
  access: PersonRoles['access'],
): Promise<void> {
  if (Object.keys(access).length >= MAX_WORKSPACES)
    throw new MusterError('QUOTA_EXCEEDED', `The deployment has its maximum of ${MAX_WORKSPACES} workspaces.`, {
      suggestion: 'Use an existing workspace: access.whoami lists your workspaces.',
    });
  const isTaken = RESERVED.includes(workspace) || accessOf(access, workspace) !== undefined;
  if (isTaken || (await workspaces.hasData(workspace))) throw nameNotAvailable(workspace);
}

export function nameNotAvailable(workspace: string): MusterError {
  return new MusterError('CONFLICT', `The workspace name "${workspace}" is not available.`, {
    reason: 'NAME_NOT_AVAILABLE',
    suggestion: 'Choose another name. access.whoami lists your workspaces.',
  });
}
