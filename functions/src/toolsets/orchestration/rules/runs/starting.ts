/** Starting runs, and finding the one that answers the same question. */
import type { Principal } from '../../../../access/rules/principal.ts';
import type { Change, RecordAnswer } from '../../../../kernel/commit.ts';
import { MusterError } from '../../../../kernel/errors.ts';
import { canonicalJson, requireSize } from '../../../../kernel/json.ts';
import { retryStale } from '../../../../kernel/waiting.ts';
import type { OrchestrationPorts } from '../ports.ts';
import { allSteps } from '../workflows/definition.ts';
import { progressOf } from '../workflows/progress.ts';
import { NOTHING_SPENT, type Run, type RunOrder, released } from './run.ts';

/** How long a success is given again to the same question. Source: docs/semantics.md#orchestration. */
const FRESH_MILLISECONDS = 5 * 60_000;

/** A run may wait for a live agent, but not for ever. */
const LIFETIME_MILLISECONDS = 24 * 3_600_000;

/** An input with its context and workflow is one document. */
const MAX_ORDER_BYTES = 600_000;

const TITLE_LENGTH = 200;

export interface RunRequest extends RunOrder, Pick<Run, 'selection'> {
  /** Whether a fresh answer to the same question will do, or the one that is being made. */
  readonly cache: boolean;
}

export interface Beginning {
  readonly runId: string;
  /** Whether the run was there already, for the same question. */
  readonly cached: boolean;
}

/** Stores a run, or finds the one that answers the same question; and says whether it is to be dispatched. */
export function storeRun(
  ports: OrchestrationPorts,
  principal: Principal,
  workspace: string,
  request: RunRequest,
  recordAnswer: RecordAnswer<Beginning>,
): Promise<{ readonly beginning: Beginning; readonly isToBeDispatched: boolean }> {
  const { clock, randomness, runs, store } = ports;
  const order = orderOf(request);
  const key = request.cache ? keyOf(ports, principal, workspace, order) : undefined;
  const run = newRun(`run-${randomness.letters(20)}`, principal, workspace, request, clock.now());
  return retryStale(randomness, async () => {
    const kept = key === undefined ? undefined : await runs.answer(key);
    const good = kept && (await goodRun(ports, kept.value.runId));
    if (good !== undefined) {
      const found = { runId: good.id, cached: true };
      await store.commit([], recordAnswer(found));
      // The instance that stored it may have died before it dispatched it. Twice is once.
      return { beginning: found, isToBeDispatched: good.status === 'pending' };
    }
    const made = { runId: run.id, cached: false };
    const { id: runId, deadline } = run;
    // Kept for as long as the run may take, and then for as long as its answer is fresh.
    const expiresAt = new Date(deadline.getTime() + FRESH_MILLISECONDS);
    const keep: Change[] =
      key === undefined ? [] : [{ kind: 'keepAnswer', key, runId, expiresAt, replaces: kept?.version }];
    await store.commit([{ kind: 'createRun', run, order }, ...keep], recordAnswer(made));
    return { beginning: made, isToBeDispatched: true };
  });
}

function newRun(
  id: string,
  { ownerUid, uid: startedBy }: Principal,
  workspace: string,
  { workflow, input, selection }: RunRequest,
  createdAt: Date,
): Run {
  const run: Run = {
    id,
    ownerUid,
    startedBy,
    workspace,
    workflow: workflow.name,
    title: [...input].slice(0, TITLE_LENGTH).join(''),
    status: 'pending',
    createdAt,
    cancelRequested: false,
    epoch: 0,
    deliveries: 0,
    deadline: new Date(createdAt.getTime() + LIFETIME_MILLISECONDS),
    current: [],
    stepsSettled: 0,
    stepsPlanned: allSteps(workflow).length,
    spent: NOTHING_SPENT,
    warnings: [],
    ...(selection && { selection }),
  };
  return released(run, createdAt);
}

/** The key holds the owner: callers must not learn what others have asked. */
function keyOf(
  { hashing, hosted }: OrchestrationPorts,
  { ownerUid }: Principal,
  workspace: string,
  order: RunOrder,
): string {
  // The key holds the models too: an answer of another model is another answer.
  const models = hosted().map(({ model }) => model);
  return hashing.sha256(canonicalJson([ownerUid, workspace, order, models]));
}

/** A success that is fresh, or a run that may still become one. */
async function goodRun({ runs, clock }: OrchestrationPorts, runId: string): Promise<Run | undefined> {
  const run = (await runs.find(runId))?.value;
  if (run === undefined) return undefined;
  if (run.endedAt === undefined) return run.cancelRequested ? undefined : run;
  const age = clock.now().getTime() - run.endedAt.getTime();
  return run.status === 'succeeded' && age < FRESH_MILLISECONDS ? run : undefined;
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
