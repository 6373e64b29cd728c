import type { Invitations } from '../../access/rules/invitations.ts';
import type { OpenWorkCounts } from '../../access/rules/leaving.ts';
import type { AccessPorts } from '../../access/rules/ports.ts';
import type { Revocation } from '../../access/rules/revocation.ts';
import { workspaceFields } from '../../access/rules/workspace.ts';
import { memberFields } from '../../identity/rules/people.ts';
import type { Caller } from '../../identity/rules/principal.ts';
import type { AnyChange } from '../../kernel/commit.ts';
import type { ConsoleLinks } from '../../kernel/consoleLinks.ts';
import { Connections } from './rules/connections.ts';
import { type ExplanationPorts, Explanations } from './rules/explanations.ts';
import { Identities } from './rules/identity.ts';
import { Inviting } from './rules/inviting.ts';
import { Members } from './rules/members.ts';
import { WorkspaceAdministration } from './rules/workspaceChanges.ts';

export interface AccessToolsDependencies extends Pick<ExplanationPorts, 'progress' | 'obstacles'> {
  readonly access: AccessPorts;
  /** Reads stored data with the caller's credential, so that the security rules apply. */
  readonly data: {
    read(
      caller: Caller,
      database: 'firestore' | 'realtime',
      path: string,
      request: { readonly shallow: false },
    ): Promise<{ readonly data: unknown }>;
  };
  readonly invitations: Invitations;
  readonly revocation: Pick<Revocation<AnyChange>, 'revoke'>;
  readonly consoleLinks: ConsoleLinks;
  readonly openRepositories: () => readonly string[];
  readonly hostedAgents: () => readonly string[];
  readonly openWork: (uid: string, workspace: string) => Promise<OpenWorkCounts>;
}

/** Creates the services behind the access tools: members, invitations, workspaces and connections. */
export function createAccessTools({ access, data, ...given }: AccessToolsDependencies) {
  const ports = { ...access, ...given, memberFields, workspaceFields };
  const members = new Members(ports);
  const workspaces = new WorkspaceAdministration(ports);
  const services = {
    access: {
      identities: new Identities(ports),
      explanations: new Explanations(ports),
      members,
      inviting: new Inviting(ports),
      workspaces,
      connections: new Connections(ports),
    },
    data,
  };
  return { inverses: { member: members.undoChange, workspace: workspaces.undoChanges }, services };
}

export type AccessServices = ReturnType<typeof createAccessTools>['services'];
