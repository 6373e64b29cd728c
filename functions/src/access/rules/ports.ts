import type { AgentChanges } from '../../agents/rules/agent.ts';
import type { AgentPorts } from '../../agents/rules/ports.ts';
import type { GrantChanges } from '../../identity/rules/grant.ts';
import type { PeopleChanges } from '../../identity/rules/people.ts';
import type { IdentityPorts } from '../../identity/rules/ports.ts';
import type { AuditChanges, ChangeOf, Store, Versioned } from '../../kernel/commit.ts';
import type { PortOf } from '../../kernel/ports.ts';
import type { CallRecorder } from '../../limits/rules/callMetrics.ts';
import type { RateLimiter } from '../../limits/rules/rateLimiter.ts';
import type { RoutingChanges, StoredWorkspace, WorkspaceChanges } from './workspace.ts';

export interface AccessPorts extends IdentityPorts, AgentPorts {
  readonly store: Store<AccessChange>;
  readonly workspaces: WorkspaceQueries;
  readonly limits: PortOf<RateLimiter>;
  readonly metrics: Pick<CallRecorder, 'record'>;
}

export interface WorkspaceQueries {
  find(workspace: string): Promise<Versioned<StoredWorkspace> | undefined>;
  /** Returns whether a database has data under a name. A new workspace of that name would own the data. */
  hasData(workspace: string): Promise<boolean>;
}

export type AccessChange = ChangeOf<
  AgentChanges & GrantChanges & PeopleChanges & RoutingChanges & WorkspaceChanges & AuditChanges
>;
