/** The order of a run: the caller's request, completed with the workflow and the selected agents. */
import { type NodeRef, nodeKey } from '../../../../graph/rules/graphNode.ts';
import type { Principal } from '../../../../identity/rules/principal.ts';
import { MusterError } from '../../../../kernel/errors.ts';
import { canonicalJson, requireSize } from '../../../../kernel/json.ts';
import { DAY_MS, type Hashing } from '../../../../kernel/ports.ts';
import type { Situation } from '../agents/roster.ts';
import type { RandomSource } from '../agents/scoring.ts';
import { NO_USAGE } from '../steps/step.ts';
import { allSteps, isCacheable } from '../workflows/definition.ts';
import { progressOf } from '../workflows/progress.ts';
import { assignAgents } from './assignment.ts';
import { type Run, type RunOrder, releasedRun } from './run.ts';

/** One day, so that live agents have time to do their steps. */
const MAX_RUN_MS = DAY_MS;
const TITLE_LENGTH = 200;

export function newRun(
  { id, workspace, created_at }: Pick<Run, 'id' | 'workspace' | 'created_at'>,
  { owner_uid, uid: startedBy }: Principal,
  { workflow, input, traceparent }: RunRequest,
  selection: Run['selection'],
): Run {
  const origin = { id, owner_uid, started_by: startedBy, workspace, created_at };
  const run: Run = {
    ...origin,
    workflow: workflow.name,
    title: [...input].slice(0, TITLE_LENGTH).join(''),
    status: 'pending',
    cancel_requested: false,
    epoch: 0,
    deliveries: 0,
    deadline: new Date(created_at.getTime() + MAX_RUN_MS),
    current: [],
    steps_settled: 0,
    steps_planned: allSteps(workflow).length,
    spent: NO_USAGE,
    warnings: [],
    ...(selection && { selection }),
    ...(traceparent !== undefined && { traceparent }),
  };
  return releasedRun(run, created_at);
}

export interface RunRequest extends Omit<RunOrder, 'forbidden'>, Pick<Run, 'selection'> {
  readonly situation: Situation;
  /** Whether the caller accepts the answer of another run, ended or still running, to the same question. */
  readonly cache: boolean;
  /** Item that the run is part of. Items do not share cached answers, because a cost belongs to one item. */
  readonly part_of?: NodeRef | undefined;
  /** W3C trace context of the call. */
  readonly traceparent?: string | undefined;
}

/** Maximum size of an order in bytes, because one document contains input, context and workflow. */
const MAX_ORDER_BYTES = 600_000;

/**
 * Returns the order before and after agents are selected.
 * @returns `asked` is equal for equal requests; `order` contains the agents selected for this run
 * @throws MusterError VALIDATION_ERROR if the order or a prompt of the first steps is too long; FORBIDDEN if the
 * workspace allows no agent
 */
export function ordersOf({ workflow, input, context, budget, parallel, situation }: RunRequest, random: RandomSource) {
  const asked = { workflow, input, context, budget, parallel, forbidden: situation.routing.forbidden };
  requireSize('A run', 'input', asked, MAX_ORDER_BYTES);
  const { next } = progressOf(workflow, asked, new Map());
  if (next.kind === 'failed' && next.reason === 'PROMPT_TOO_LARGE')
    throw new MusterError('VALIDATION_ERROR', `Step "${next.at.name}": ${next.error}`, {
      field: 'workflow',
      reason: next.reason,
      suggestion: 'Shorten long inputs, or use each of them only once per template.',
    });
  const { workflow: assigned, reasons } = assignAgents(workflow, input, situation, random);
  return { asked, order: { ...asked, workflow: assigned }, reasons };
}

/**
 * Returns the key under which the answer is cached; undefined if the answer must not be cached. The key contains the
 * owner, so that callers cannot learn the questions of others, and the models, whose answers differ. It does not
 * contain the agents selected for `auto`, so that equal questions share one cached answer.
 */
export function cacheKeyOf(
  hashing: Hashing,
  { cache, situation, part_of }: Pick<RunRequest, 'cache' | 'situation' | 'part_of'>,
  asked: RunOrder,
  asker: { readonly ownerUid: string; readonly workspace: string; readonly models: readonly string[] },
): string | undefined {
  if (!cache || !isCacheable(asked.workflow)) return undefined;
  const { ownerUid, workspace, models } = asker;
  const forWhat = part_of === undefined ? [] : [nodeKey(part_of)];
  return hashing.sha256(canonicalJson([ownerUid, workspace, asked, models, situation.routing, ...forWhat]));
}
