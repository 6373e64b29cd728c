/** Commits the domain's changes in one Firestore write batch: all or none, and once. */
import type { Firestore } from '@google-cloud/firestore';
import { MusterError } from '../../domain/errors.ts';
import type { SettledOperation } from '../../domain/idempotency/operation.ts';
import type { Clock, Randomness } from '../../domain/ports.ts';
import { type Change, StaleWriteError, type Store } from '../../domain/store.ts';
import { addAgentChange } from './agentChanges.ts';
import { addCoordinationChange } from './coordinationChanges.ts';
import { TOO_LARGE } from './limits.ts';
import { addOrchestrationChange } from './orchestrationChanges.ts';
import { commitPath, idempotencyPath } from './paths.ts';
import { CommitProof, commitProven } from './provenCommit.ts';
import { addPullRequestChange } from './pullRequestChanges.ts';
import { addRunChange } from './runChanges.ts';
import { settledFromDocument, settledToDocument } from './sessionDocument.ts';
import { addSpineChange } from './spineChanges.ts';
import { ALREADY_EXISTS, INVALID_ARGUMENT, STALE_CODES, statusCode } from './statusCode.ts';
import { addSubscriptionChange } from './subscriptionChanges.ts';
import { addTaskChange } from './taskChanges.ts';
import { addTodoChange } from './todoChanges.ts';

/** A lost answer is asked for within minutes; the document is deleted some time after that. */
const PROOF_MILLISECONDS = 3_600_000;

const PROOF_LETTERS = 20;

const AGENT_CHANGES: readonly Change['kind'][] = ['createAgent', 'replaceAgent', 'holdTask', 'dropTask'];

export class FirestoreStore implements Store {
  private readonly database: Firestore;
  private readonly clock: Clock;
  private readonly randomness: Randomness;
  private agentChanges = 0;

  constructor(database: Firestore, clock: Clock, randomness: Randomness) {
    this.database = database;
    this.clock = clock;
    this.randomness = randomness;
  }

  /** How many commits of this instance may have changed an agent. */
  get agentCommits(): number {
    return this.agentChanges;
  }

  async commit(changes: readonly Change[], settled?: SettledOperation): Promise<void> {
    if (changes.length === 0 && settled === undefined) return;
    const batch = this.database.batch();
    const proof = new CommitProof(this.randomness.letters(PROOF_LETTERS));
    if (settled !== undefined) {
      const document = this.database.doc(idempotencyPath(settled.id));
      batch.create(document, proof.lastingIn(document, settledToDocument(settled)));
    }
    for (const change of changes) {
      addTaskChange(this.database, batch, change, proof);
      addAgentChange(this.database, batch, change, this.randomness);
      addCoordinationChange(this.database, batch, change, this.randomness, proof);
      addPullRequestChange(this.database, batch, change);
      addSubscriptionChange(this.database, batch, change);
      addSpineChange(this.database, batch, change, proof);
      addTodoChange(this.database, batch, change);
      addOrchestrationChange(this.database, batch, change, this.randomness);
      addRunChange(this.database, batch, change, proof);
    }
    if (!proof.isHeld) {
      const document = this.database.doc(commitPath(proof.id));
      batch.create(document, proof.lastingIn(document, { expires_at: this.proofExpiry() }));
    }
    try {
      await commitProven(batch, proof);
    } catch (error) {
      throw await this.explained(error, settled);
    } finally {
      if (changes.some(({ kind }) => AGENT_CHANGES.includes(kind))) this.agentChanges++;
    }
  }

  private proofExpiry(): Date {
    return new Date(this.clock.now().getTime() + PROOF_MILLISECONDS);
  }

  /** What a failed commit means to the domain; what it does not know goes on as it is. */
  private async explained(error: unknown, settled: SettledOperation | undefined): Promise<unknown> {
    const code = statusCode(error);
    if (code === INVALID_ARGUMENT && TOO_LARGE.test(String(error))) return tooLarge(error);
    if (!STALE_CODES.includes(code)) return error;
    if (code === ALREADY_EXISTS && settled !== undefined) await this.refuseRepetition(settled.id);
    return new StaleWriteError({ cause: error });
  }

  /** Tells a repeated operation from a stale commit, and makes room where the record is only old. */
  private async refuseRepetition(id: string): Promise<void> {
    const document = this.database.doc(idempotencyPath(id));
    const snapshot = await document.get();
    if (!snapshot.exists) return;
    if (settledFromDocument(id, snapshot.data()).expiresAt <= this.clock.now()) {
      const asItWas = snapshot.updateTime && { lastUpdateTime: snapshot.updateTime };
      await document.delete(asItWas).catch(() => undefined); // who made room meanwhile has the record now
      return;
    }
    throw new MusterError('CONFLICT', 'This idempotency key was used at the same moment by another call.', {
      field: 'idempotency_key',
      reason: 'ALREADY_SETTLED',
      suggestion: 'Call again: the first answer is then replayed.',
    });
  }
}

function tooLarge(cause: unknown): MusterError {
  return new MusterError('VALIDATION_ERROR', 'This is too much for one document, which holds 1 MiB.', {
    reason: 'SIZE_LIMIT_EXCEEDED',
    suggestion: 'Nothing was changed. Shorten the texts and lists, or put them into a file and name it.',
    cause,
  });
}
