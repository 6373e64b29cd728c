import type { Firestore, WriteBatch } from '@google-cloud/firestore';
import type { Change } from '../../domain/store.ts';
import { answerPath, runCallsPath, runOrderPath, runPath, runStepsPath } from './paths.ts';
import type { CommitProof } from './provenCommit.ts';
import { orderToDocument, runToDocument } from './runDocument.ts';
import { callToDocument, stepToDocument } from './runStepDocument.ts';
import { atVersion } from './timestamp.ts';

/** Adds a change of a run, its steps, its journal or the answers kept to the batch; another change adds nothing. */
export function addRunChange(
  database: Firestore,
  batch: WriteBatch,
  change: Change,
  proof: CommitProof,
): void {
  switch (change.kind) {
    case 'createRun': {
      const document = database.doc(runPath(change.run.id));
      batch.create(document, proof.lastingIn(document, runToDocument(change.run)));
      batch.create(database.doc(runOrderPath(change.run.id)), orderToDocument(change.order));
      break;
    }
    case 'replaceRun': {
      const { run, version } = change;
      const document = database.doc(runPath(run.id));
      const data = proof.latestIn(document, { ...runToDocument(run) }, version);
      batch.update(document, data, atVersion(version));
      break;
    }
    case 'recordStep':
      batch.set(database.doc(`${runStepsPath(change.runId)}/${change.step.id}`), stepToDocument(change.step));
      break;
    case 'startCall': {
      const document = database.doc(`${runCallsPath(change.runId)}/${change.entry.id}`);
      batch.create(document, proof.lastingIn(document, callToDocument(change.entry)));
      break;
    }
    case 'settleCall': {
      const document = database.doc(`${runCallsPath(change.runId)}/${change.entry.id}`);
      batch.update(document, proof.lastingIn(document, { ...callToDocument(change.entry) }));
      break;
    }
    case 'keepAnswer': {
      const document = database.doc(answerPath(change.key));
      const kept = { run_id: change.runId, expires_at: change.expiresAt };
      if (change.replaces === undefined) batch.create(document, kept);
      else batch.update(document, kept, atVersion(change.replaces));
      break;
    }
  }
}
