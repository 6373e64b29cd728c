import type { Caller } from '../../access/rules/principal.ts';
import type { Connections } from './rules/connections.ts';
import type { Explanations } from './rules/explanations.ts';
import type { Identities } from './rules/identity.ts';
import type { Inviting } from './rules/inviting.ts';
import type { Members } from './rules/members.ts';
import type { WorkspaceAdministration } from './rules/workspaceChanges.ts';

/** Reads data as the caller, under the security rules. */
interface CallersData {
  read(
    caller: Caller,
    database: 'firestore' | 'realtime',
    path: string,
    request: { readonly shallow: false },
  ): Promise<{ readonly data: unknown }>;
}

/** What the tools ask. */
export interface AccessServices {
  readonly access: {
    readonly identities: Identities;
    readonly explanations: Explanations;
    readonly members: Members;
    readonly inviting: Inviting;
    readonly workspaces: WorkspaceAdministration;
    readonly connections: Connections;
  };
  readonly data: CallersData;
}
