/** What the trail tells of saved workflows and of runs. */
import type { EffectsOf } from '../../../kernel/firestore/trail.ts';
import type { Effect, Fields } from '../../../kernel/trail.ts';
import type { Run, RunChanges } from '../rules/runs/run.ts';
import type { SavedWorkflow, WorkflowChanges } from '../rules/workflows/savedWorkflow.ts';
import { workflowFields } from '../rules/workflows/savedWorkflow.ts';

const ofWorkflow = ({ id, ownerUid }: SavedWorkflow) => ({ kind: 'workflow', id, ownerUid });

/** What leaders of its workspace may see of a run too: its input is its owner's. */
function courseOf({ status, workflow, cancelRequested }: Run): Fields {
  return { status, workflow, cancel_requested: cancelRequested };
}

const ofRun = ({ id, workspace, ownerUid }: Run) => ({ kind: 'run', id, workspace, ownerUid });

export const orchestrationEffects: EffectsOf<WorkflowChanges & RunChanges> = {
  createWorkflow: ({ saved }): Effect => ({ ...ofWorkflow(saved), after: workflowFields.of(saved) }),
  replaceWorkflow: ({ saved, before }): Effect => ({
    ...ofWorkflow(saved),
    before: workflowFields.of(before),
    after: workflowFields.of(saved),
  }),
  deleteWorkflow: ({ saved }): Effect => ({ ...ofWorkflow(saved), before: workflowFields.of(saved) }),
  createRun: ({ run }): Effect => ({ ...ofRun(run), after: courseOf(run) }),
  replaceRun: ({ run, before }): Effect => ({
    ...ofRun(run),
    before: courseOf(before),
    after: courseOf(run),
  }),
};
