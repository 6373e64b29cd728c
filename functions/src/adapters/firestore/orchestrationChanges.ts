import type { WorkflowChanges } from '../../domain/orchestration/workflows/saved.ts';
import type { ChangeWriters } from './commitWrites.ts';
import { workflowPath } from './paths.ts';
import { workflowToDocument } from './workflowDocument.ts';

export const workflowWriters: ChangeWriters<WorkflowChanges> = {
  createWorkflow({ saved }, writes) {
    writes.create(workflowPath(saved.id), workflowToDocument(saved));
  },
  replaceWorkflow({ saved, version }, writes) {
    writes.replace(workflowPath(saved.id), workflowToDocument(saved), version);
  },
  deleteWorkflow({ id, version }, writes) {
    writes.deleteAt(workflowPath(id), version);
  },
};
