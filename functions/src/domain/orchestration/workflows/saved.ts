/** A workflow that somebody has saved: `workflows/{id}`. */
import type { Workflow } from './definition.ts';

export interface SavedWorkflow {
  /** Derived from its owner and its name. */
  readonly id: string;
  readonly ownerUid: string;
  readonly workflow: Workflow;
  /** 1, and one more with each change. */
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What commits may change of saved workflows. */
export interface WorkflowChanges {
  readonly createWorkflow: { readonly saved: SavedWorkflow };
  readonly replaceWorkflow: { readonly saved: SavedWorkflow; readonly version: string };
  readonly deleteWorkflow: { readonly id: string; readonly version: string };
}

declare module '../../store.ts' {
  interface ChangeKinds extends WorkflowChanges {}
}
