import { z } from 'zod';
import { documentCodec, timestamp } from '../../../../kernel/documentCodec.ts';
import { fieldsCodec } from '../../../../kernel/trail.ts';
import type { Workflow } from './definition.ts';
import { readWorkflow } from './validation.ts';

/** A workflow as JSON: nothing queries what is in it. */
export const workflowText = z.codec(z.string(), z.custom<Workflow>(), {
  decode: (text) => readWorkflow(text, 'workflow'),
  encode: (workflow) => JSON.stringify(workflow),
});

/** A workflow that somebody has saved: `workflows/{id}`, which has its name besides. */
export const { toDocument: workflowToDocument, fromDocument: workflowFromDocument } = documentCodec(
  z.object({
    /** Derived from its owner and its name. */
    id: z.string(),
    owner_uid: z.string(),
    definition: workflowText,
    /** 1, and one more with each change. */
    version: z.int(),
    created_at: timestamp,
    updated_at: timestamp,
  }),
);

export type SavedWorkflow = ReturnType<typeof workflowFromDocument>;

/** Workflows as the trail tells of them. */
export const workflowFields = fieldsCodec<SavedWorkflow>(workflowToDocument, workflowFromDocument);

/** What commits may change of saved workflows. */
export interface WorkflowChanges {
  readonly createWorkflow: { readonly saved: SavedWorkflow };
  readonly replaceWorkflow: {
    readonly saved: SavedWorkflow;
    readonly before: SavedWorkflow;
    readonly version: string;
  };
  readonly deleteWorkflow: { readonly saved: SavedWorkflow; readonly version: string };
}
