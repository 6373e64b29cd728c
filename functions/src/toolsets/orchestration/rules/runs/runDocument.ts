/** A run as it is stored, which the console reads too. Source: docs/decisions/0021-runs-and-workflows.md. */

import { z } from 'zod/mini';
import { placeFields } from '../../../../graph/rules/graphNode.ts';
import { timestamp } from '../../../../kernel/documentCodec.ts';
import { failure, spent } from '../steps/step.ts';

/** `pending` until taken; `waiting` for a live agent, or for room in a budget; the last three are final. */
export const RUN_STATUSES = ['pending', 'running', 'waiting', 'succeeded', 'failed', 'cancelled'] as const;

/** `runs/{runId}`: small, since it is watched. Every field is always written, so that replacing leaves nothing old behind. */
export const runDocument = z.object({
  id: z.string(),
  /** Whose it is: only they and their agents see all of it, and leaders of the workspace its course. */
  owner_uid: z.string(),
  started_by: z.string(),
  workspace: z.string(),
  workflow: z.string(),
  /** The beginning of its input, for lists. */
  title: z.string(),
  status: z.enum(RUN_STATUSES),
  created_at: timestamp,
  ended_at: z.nullable(timestamp),
  cancel_requested: z.boolean(),
  /** The epoch of the latest lease; 0 before the first. */
  epoch: z.number(),
  /** How often it has been taken since it last came further. */
  deliveries: z._default(z.number(), 0),
  /** Until when an instance executes it. The epoch fences: it grows with every taking of the run. */
  lease_expires_at: z.nullable(timestamp),
  /** If nothing has happened by then, the run is dispatched again. Absent when nothing is to be done. */
  due_at: z.nullable(timestamp),
  /** After this no step is begun any more. */
  deadline: timestamp,
  /** Names of the steps that are under way. */
  current: z.array(z.string()),
  steps_settled: z.number(),
  /** How many steps it has at least, if none is skipped. */
  steps_planned: z.number(),
  spent,
  result_step: z.nullable(z.string()),
  failure: z.nullable(failure),
  warnings: z.array(z.string()),
  /** What was chosen for the caller, and why. */
  selection: z.nullable(z.object({ agent: z.string(), workflow: z.string(), reasons: z.array(z.string()) })),
  ...placeFields,
  /** What its steps' calls have taken beside tokens and money; null before the first. */
  worked: z._default(z.nullable(z.object({ attempts: z.int(), milliseconds: z.number() })), null),
  /** The budget into which its next call does not fit; `is_spent` false: as long as others have reserved of it. */
  budget_wait: z._default(
    z.nullable(z.object({ key: z.string(), is_spent: z.boolean(), since: timestamp })),
    null,
  ),
});
