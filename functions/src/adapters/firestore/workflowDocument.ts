/** Saved workflows as Firestore keeps them. */
import { z } from 'zod';
import type { Workflow } from '../../domain/orchestration/workflows/definition.ts';
import type { SavedWorkflow } from '../../domain/orchestration/workflows/saved.ts';
import { readWorkflow } from '../../domain/orchestration/workflows/validation.ts';
import { type DocumentCodec, documentCodec } from './codec.ts';
import { timestamp } from './timestamp.ts';

/** A workflow as JSON: nothing queries what is in it. */
export const workflowText = z.codec(z.string(), z.custom<Workflow>(), {
  decode: (text) => readWorkflow(text, 'workflow'),
  encode: (workflow) => JSON.stringify(workflow),
});

const codec: DocumentCodec<SavedWorkflow> = documentCodec(
  z.object({
    id: z.string(),
    owner_uid: z.string(),
    definition: workflowText,
    version: z.int(),
    created_at: timestamp,
    updated_at: timestamp,
  }),
  { definition: 'workflow' },
);

export function workflowToDocument(saved: SavedWorkflow): Record<string, unknown> {
  return { ...codec.toDocument(saved), name: saved.workflow.name };
}

export const workflowFromDocument = codec.fromDocument;
