/** What commits of access may change. */

import type { ChangeOf, TrailChanges } from '../../kernel/commit.ts';
import type { AgentChanges } from './agent.ts';
import type { GrantChanges } from './grant.ts';
import type { PeopleChanges } from './people.ts';
import type { RoutingChanges, WorkspaceChanges } from './workspace.ts';

export type AccessChange = ChangeOf<
  AgentChanges & GrantChanges & PeopleChanges & RoutingChanges & WorkspaceChanges & TrailChanges
>;
