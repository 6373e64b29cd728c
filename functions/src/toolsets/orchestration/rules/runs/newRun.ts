/** A run as it begins. */
import type { Principal } from '../../../../access/rules/principal.ts';
import { allSteps } from '../workflows/definition.ts';
import { NOTHING_SPENT, type Run, released } from './run.ts';
import type { RunRequest } from './runService.ts';

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
