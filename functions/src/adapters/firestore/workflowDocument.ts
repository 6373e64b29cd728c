/** Saved workflows as Firestore keeps them. */
import { z } from 'zod';
import type { SavedWorkflow } from '../../domain/orchestration/workflows/saved.ts';
import { readWorkflow } from '../../domain/orchestration/workflows/validation.ts';
import { timestamp } from './timestamp.ts';

const workflowDocument = z.object({
  id: z.string(),
  owner_uid: z.string(),
  name: z.string(),
  /** As JSON: nothing queries what is in it. */
  definition: z.string(),
  version: z.int(),
  created_at: timestamp,
  updated_at: timestamp,
});

export function workflowToDocument(saved: SavedWorkflow): z.output<typeof workflowDocument> {
  return {
    id: saved.id,
    owner_uid: saved.ownerUid,
    name: saved.workflow.name,
    definition: JSON.stringify(saved.workflow),
    version: saved.version,
    created_at: saved.createdAt,
    updated_at: saved.updatedAt,
  };
}

export function workflowFromDocument(data: unknown): SavedWorkflow {
  const stored = workflowDocument.parse(data);
  return {
    id: stored.id,
    ownerUid: stored.owner_uid,
    workflow: readWorkflow(stored.definition, 'workflow'),
    version: stored.version,
    createdAt: stored.created_at,
    updatedAt: stored.updated_at,
  };
}
