/** Starting runs, and finding the one that answers the same question. */
import type { Principal } from '../../../../access/rules/principal.ts';
import type { Change, RecordAnswer, Versioned } from '../../../../kernel/commit.ts';
import { MusterError } from '../../../../kernel/errors.ts';
import { canonicalJson, requireSize } from '../../../../kernel/json.ts';
import type { Batch, Page, Position, Slice } from '../../../../kernel/paging.ts';
import { retryStale } from '../../../../kernel/retry.ts';
import type { OrchestrationPorts } from '../ports.ts';
import { allSteps } from '../workflows/definition.ts';
import { progressOf } from '../workflows/progress.ts';
import type { JournalEntry } from './journal.ts';
import {
  handedOn,
  NOTHING_SPENT,
  type Run,
  type RunOrder,
  type RunStatus,
  type Selection,
  type StepRecord,
} from './run.ts';

/** How long a success is given again to the same question. Source: docs/semantics.md#orchestration. */
const FRESH_MILLISECONDS = 5 * 60_000;

/** A run may wait for a live agent, but not for ever. */
const LIFETIME_MILLISECONDS = 24 * 3_600_000;

/** An input with its context and workflow is one document. */
const MAX_ORDER_BYTES = 600_000;

const TITLE_LENGTH = 200;

export interface RunRequest extends RunOrder {
  readonly selection?: Selection;
  /** Whether a fresh answer to the same question will do, or the one that is being made. */
  readonly cache: boolean;
}

export interface Beginning {
  readonly runId: string;
  /** Whether the run was there already, for the same question. */
  readonly cached: boolean;
}

interface Stored {
  readonly beginning: Beginning;
  readonly isToBeDispatched: boolean;
}

export class RunStart {
  private readonly ports: OrchestrationPorts;

  constructor(ports: OrchestrationPorts) {
    this.ports = ports;
  }

  /** Stores a run, or finds the one that answers the same question; and says whether it is to be dispatched. */
  store(
    principal: Principal,
    workspace: string,
    request: RunRequest,
    recordAnswer: RecordAnswer<Beginning>,
  ): Promise<Stored> {
    const order = orderOf(request);
    const key = request.cache ? this.keyOf(principal, workspace, order) : undefined;
    const run = this.newRun(principal, workspace, request);
    return retryStale(this.ports.randomness, async (): Promise<Stored> => {
      const kept = key === undefined ? undefined : await this.ports.answers.find(key);
      const good = kept && (await this.goodRun(kept.value.runId));
      if (good !== undefined) {
        const found = { runId: good.id, cached: true };
        await this.ports.store.commit([], recordAnswer(found));
        // The instance that stored it may have died before it dispatched it. Twice is once.
        return { beginning: found, isToBeDispatched: good.status === 'pending' };
      }
      const made = { runId: run.id, cached: false };
      const keep: Change[] = key === undefined ? [] : [keepAnswer(key, run, kept?.version)];
      await this.ports.store.commit([{ kind: 'createRun', run, order }, ...keep], recordAnswer(made));
      return { beginning: made, isToBeDispatched: true };
    });
  }

  private newRun(principal: Principal, workspace: string, { workflow, input, selection }: RunRequest): Run {
    const now = this.ports.clock.now();
    return handedOn(
      {
        id: `run-${this.ports.randomness.letters(20)}`,
        ownerUid: principal.ownerUid,
        startedBy: principal.uid,
        workspace,
        workflow: workflow.name,
        title: [...input].slice(0, TITLE_LENGTH).join(''),
        status: 'pending',
        createdAt: now,
        cancelRequested: false,
        epoch: 0,
        deliveries: 0,
        deadline: new Date(now.getTime() + LIFETIME_MILLISECONDS),
        current: [],
        stepsSettled: 0,
        stepsPlanned: allSteps(workflow).length,
        spent: NOTHING_SPENT,
        warnings: [],
        ...(selection && { selection }),
      },
      now,
    );
  }

  /** Answers are an owner's: whoever asks must not learn what others have asked. */
  private keyOf({ ownerUid }: Principal, workspace: string, order: RunOrder): string {
    const { hashing, hosted } = this.ports;
    // What the agents are made of: an answer of another model is another answer.
    const models = hosted().map(({ model }) => model);
    return hashing.sha256(canonicalJson([ownerUid, workspace, order, models]));
  }

  /** A success that is fresh, or a run that may still become one. */
  private async goodRun(runId: string): Promise<Run | undefined> {
    const run = (await this.ports.runs.find(runId))?.value;
    if (run === undefined) return undefined;
    if (run.endedAt === undefined) return run.cancelRequested ? undefined : run;
    const age = this.ports.clock.now().getTime() - run.endedAt.getTime();
    return run.status === 'succeeded' && age < FRESH_MILLISECONDS ? run : undefined;
  }
}

/** @throws MusterError VALIDATION_ERROR where it is too much for one document, or for a prompt of the first steps */
function orderOf({ workflow, input, context, budget, parallel }: RunRequest): RunOrder {
  const order = { workflow, input, context, budget, parallel };
  requireSize('A run', 'input', order, MAX_ORDER_BYTES);
  const { next } = progressOf(workflow, { input, context }, new Map());
  if (next.kind !== 'failed' || next.reason !== 'PROMPT_TOO_LARGE') return order;
  throw new MusterError('VALIDATION_ERROR', `Step "${next.at.name}": ${next.error}`, {
    field: 'workflow',
    reason: next.reason,
    suggestion: 'Name what is long once in a template, or send less of it.',
  });
}

/** Kept for as long as the run may take, and then for as long as its answer is fresh. */
function keepAnswer(key: string, { id, deadline }: Run, replaces: string | undefined): Change {
  const expiresAt = new Date(deadline.getTime() + FRESH_MILLISECONDS);
  return { kind: 'keepAnswer', key, runId: id, expiresAt, ...(replaces !== undefined && { replaces }) };
}

// What runs need of the world.

export interface RunReader {
  find(runId: string): Promise<Versioned<Run> | undefined>;
  /** @throws Error where there is none */
  order(runId: string): Promise<RunOrder>;
  /** In the order of their numbers. */
  steps(runId: string): Promise<readonly StepRecord[]>;
  /** The calls of one step, in any order. */
  journal(runId: string, stepId: string): Promise<readonly JournalEntry[]>;
  /** The calls of all steps, in any order. */
  calls(runId: string): Promise<readonly JournalEntry[]>;
  /** An owner's, the newest first; with a status, those that are in it. */
  list(ownerUid: string, status: RunStatus | undefined, page: Page): Promise<Slice<Run>>;
  /** Those for which something should have happened by `now`, the longest ago first. */
  due(now: Date, limit: number, after?: Position): Promise<Batch<Run>>;
  /** The run as it is now and after each change, until the signal. Changes in quick succession may be told as one. */
  watch(runId: string, end: AbortSignal): AsyncIterable<Run>;
}

export interface RunDispatch {
  /** Has the run executed, soon, by some instance, at least once. */
  dispatch(runId: string): Promise<void>;
}

/** Which run has answered a question, or is about to: `answerCache/{key}`. */
export interface CachedAnswer {
  readonly runId: string;
}

export interface AnswerCache {
  find(key: string): Promise<Versioned<CachedAnswer> | undefined>;
}
