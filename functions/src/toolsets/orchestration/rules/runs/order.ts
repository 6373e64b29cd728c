/** What a run is to do, as it was asked and with its agents chosen. */

import { type NodeRef, nodeKey } from '../../../../graph/rules/graphNode.ts';
import type { Principal } from '../../../../identity/rules/principal.ts';
import { MusterError } from '../../../../kernel/errors.ts';
import { canonicalJson, requireSize } from '../../../../kernel/json.ts';
import type { Hashing } from '../../../../kernel/ports.ts';
import type { Situation } from '../agents/roster.ts';
import type { Chance } from '../agents/standing.ts';
import { NOTHING_SPENT } from '../steps/step.ts';
import { allSteps, isCacheable } from '../workflows/definition.ts';
import { progressOf } from '../workflows/progress.ts';
import { assignAgents } from './assignment.ts';
import { type Run, type RunOrder, released } from './run.ts';

/** A run may wait for a live agent, but not for ever. */
const LIFETIME_MILLISECONDS = 24 * 3_600_000;

const TITLE_LENGTH = 200;

export function newRun(
  { id, workspace, created_at }: Pick<Run, 'id' | 'workspace' | 'created_at'>,
  { owner_uid, uid: startedBy }: Principal,
  { workflow, input }: RunRequest,
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
    deadline: new Date(created_at.getTime() + LIFETIME_MILLISECONDS),
    current: [],
    steps_settled: 0,
    steps_planned: allSteps(workflow).length,
    spent: NOTHING_SPENT,
    warnings: [],
    ...(selection && { selection }),
  };
  return released(run, created_at);
}

export interface RunRequest extends Omit<RunOrder, 'forbidden'>, Pick<Run, 'selection'> {
  /** By which agents are chosen for the steps that leave it open. */
  readonly situation: Situation;
  /** Whether a fresh answer to the same question will do, or the one that is being made, if the workflow allows it. */
  readonly cache: boolean;
  /** What it is started for. An answer that was given elsewhere has cost that, and is not given here again. */
  readonly part_of?: NodeRef | undefined;
}

/** An input with its context and workflow is one document. */
const MAX_ORDER_BYTES = 600_000;

/**
 * @param chance of the run
 * @returns `asked` is the same for the same request; `order` has the agents that were chosen for this run
 * @throws MusterError VALIDATION_ERROR where it is too much for one document, or for a prompt of the first steps;
 * FORBIDDEN where the workspace allows no agent
 */
export function ordersOf(
  { workflow, input, context, budget, parallel, situation }: RunRequest,
  chance: Chance,
): { readonly asked: RunOrder; readonly order: RunOrder; readonly reasons: readonly string[] } {
  const asked = { workflow, input, context, budget, parallel, forbidden: situation.routing.forbidden };
  requireSize('A run', 'input', asked, MAX_ORDER_BYTES);
  const { next } = progressOf(workflow, asked, new Map());
  if (next.kind === 'failed' && next.reason === 'PROMPT_TOO_LARGE') {
    throw new MusterError('VALIDATION_ERROR', `Step "${next.at.name}": ${next.error}`, {
      field: 'workflow',
      reason: next.reason,
      suggestion: 'Name what is long once in a template, or send less of it.',
    });
  }
  const { workflow: assigned, reasons } = assignAgents(workflow, input, situation, chance);
  return { asked, order: { ...asked, workflow: assigned }, reasons };
}

/**
 * Returns the key under which the answer is cached; undefined if it is not. The key has the owner, since callers must not
 * learn what others have asked, and the models, since an answer of another model is another answer. It does not have the
 * agents that were chosen: the same question has one answer, whoever gave it.
 */
export function answerKeyOf(
  hashing: Hashing,
  { cache, situation, part_of }: Pick<RunRequest, 'cache' | 'situation' | 'part_of'>,
  asked: RunOrder,
  {
    ownerUid,
    workspace,
    models,
  }: { readonly [Name in 'ownerUid' | 'workspace']: string } & { readonly models: readonly string[] },
): string | undefined {
  if (!cache || !isCacheable(asked.workflow)) return undefined;
  const forWhat = part_of === undefined ? [] : [nodeKey(part_of)];
  return hashing.sha256(canonicalJson([ownerUid, workspace, asked, models, situation.routing, ...forWhat]));
}
