/** Stored form of a run; the console reads it too. Source: docs/decisions/0021-runs-and-workflows.md. */

import { z } from 'zod/mini';
import { parentFields } from '../../../../graph/rules/graphNode.ts';
import { timestamp } from '../../../../kernel/documentCodec.ts';
import { failure, usageShape } from '../steps/step.ts';

/** `pending` until taken; `waiting` for a live agent or a budget; the last three are final. */
export const RUN_STATUSES = ['pending', 'running', 'waiting', 'succeeded', 'failed', 'cancelled'] as const;

/** `runs/{runId}`: small, because it is watched. Every field is always written, so a replace leaves no old field. */
export const runDocument = z.object({
  id: z.string(),
  /** The owner and the owner's agents see everything; leaders of the workspace see state, steps and cost. */
  owner_uid: z.string(),
  started_by: z.string(),
  workspace: z.string(),
  workflow: z.string(),
  /** Start of the input, for lists. */
  title: z.string(),
  status: z.enum(RUN_STATUSES),
  created_at: timestamp,
  ended_at: z.nullable(timestamp),
  cancel_requested: z.boolean(),
  /** Epoch of the latest lease; 0 before the first. */
  epoch: z.number(),
  /** Deliveries since the last progress. */
  deliveries: z._default(z.number(), 0),
  /** Lease expiry. The epoch, which grows with each lease, fences writes. */
  lease_expires_at: z.nullable(timestamp),
  /** Time at which the run is dispatched again if nothing happens before. Absent if nothing is due. */
  due_at: z.nullable(timestamp),
  /** No step starts after this time. */
  deadline: timestamp,
  /** Names of the steps in progress. */
  current: z.array(z.string()),
  steps_settled: z.number(),
  /** Minimum number of steps, if none is skipped. */
  steps_planned: z.number(),
  spent: usageShape,
  result_step: z.nullable(z.string()),
  failure: z.nullable(failure),
  warnings: z.array(z.string()),
  /** Automatic choices and their reasons. */
  selection: z.nullable(z.object({ agent: z.string(), workflow: z.string(), reasons: z.array(z.string()) })),
  ...parentFields,
  /** Attempts and time of the steps' calls; null before the first. */
  worked: z._default(z.nullable(z.object({ attempts: z.int(), milliseconds: z.number() })), null),
  /** The budget that cannot cover the next call; `is_spent` false: other calls' reservations are the cause. */
  budget_wait: z._default(z.nullable(z.object({ key: z.string(), is_spent: z.boolean(), since: timestamp })), null),
});
