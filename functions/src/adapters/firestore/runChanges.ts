import type { RunChanges } from '../../domain/orchestration/runs/records.ts';
import type { ChangeWriters } from './commitWrites.ts';
import { answerPath, runCallsPath, runOrderPath, runPath, runStepsPath } from './paths.ts';
import { orderToDocument, runToDocument } from './runDocument.ts';
import { callToDocument, stepToDocument } from './runStepDocument.ts';

export const runWriters: ChangeWriters<RunChanges> = {
  createRun({ run, order }, writes) {
    writes.createLasting(runPath(run.id), runToDocument(run));
    writes.create(runOrderPath(run.id), orderToDocument(order));
  },
  replaceRun({ run, version }, writes) {
    writes.replaceLatest(runPath(run.id), runToDocument(run), version);
  },
  recordStep({ runId, step }, writes) {
    writes.set(`${runStepsPath(runId)}/${step.id}`, stepToDocument(step));
  },
  startCall({ runId, entry }, writes) {
    writes.createLasting(`${runCallsPath(runId)}/${entry.id}`, callToDocument(entry));
  },
  settleCall({ runId, entry }, writes) {
    writes.updateLasting(`${runCallsPath(runId)}/${entry.id}`, callToDocument(entry));
  },
  keepAnswer({ key, runId, expiresAt, replaces }, writes) {
    writes.createOrReplace(answerPath(key), { run_id: runId, expires_at: expiresAt }, replaces);
  },
};
