/** What commits of orchestration may change. */

import type { ChangeOf } from '../../../kernel/commit.ts';
import type { CoordinationChange } from '../../coordination/index.ts';
import type { MeasureChanges } from './agents/profile.ts';
import type { WorkChanges } from './agents/standing.ts';
import type { RunChanges } from './runs/run.ts';
import type { WorkflowChanges } from './workflows/savedWorkflow.ts';

export type OrchestrationChange =
  | ChangeOf<RunChanges & WorkflowChanges & MeasureChanges & WorkChanges>
  | CoordinationChange;
