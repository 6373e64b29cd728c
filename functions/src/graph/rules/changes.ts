/** What commits of the graph and of budgets may change. */

import type { ChangeOf, TrailChanges } from '../../kernel/commit.ts';
import type { BudgetChanges } from './budget.ts';
import type { GraphChanges } from './graphNode.ts';

export type GraphChange = ChangeOf<GraphChanges & BudgetChanges & TrailChanges>;
