/** A run as it begins. */
import type { Principal } from '../../../../access/rules/principal.ts';
import type { NodeRef } from '../../../../graph/rules/node.ts';
import type { Situation } from '../agents/roster.ts';
import { allSteps } from '../workflows/definition.ts';
import { NOTHING_SPENT, type Run, type RunOrder, released } from './run.ts';

/** A run may wait for a live agent, but not for ever. */
const LIFETIME_MILLISECONDS = 24 * 3_600_000;

const TITLE_LENGTH = 200;

export function newRun(
  id: string,
  { ownerUid, uid: startedBy }: Principal,
  workspace: string,
  { workflow, input }: RunRequest,
  createdAt: Date,
  selection: Run['selection'],
): Run {
  const origin = { id, ownerUid, startedBy, workspace, createdAt };
  const run: Run = {
    ...origin,
    workflow: workflow.name,
    title: [...input].slice(0, TITLE_LENGTH).join(''),
    status: 'pending',
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

export interface RunRequest extends Omit<RunOrder, 'forbidden'>, Pick<Run, 'selection'> {
  /** By which agents are chosen for the steps that leave it open. */
  readonly situation: Situation;
  /** Whether a fresh answer to the same question will do, or the one that is being made, if the workflow allows it. */
  readonly cache: boolean;
  /** What it is started for. An answer that was given elsewhere has cost that, and is not given here again. */
  readonly partOf?: NodeRef | undefined;
}
