/** Stored form of a run, which the console reads too. Source: docs/decisions/0021-runs-and-workflows.md. */
import { z } from 'zod/mini';
import { parentFields } from '../../../../graph/rules/graphNode.ts';
import { timestamp } from '../../../../kernel/documentCodec.ts';
import { failure, usageShape } from '../steps/step.ts';

/** `pending`: no instance has started the run. `waiting`: for a live agent or a budget. The last three are final. */
export const RUN_STATUSES = ['pending', 'running', 'waiting', 'succeeded', 'failed', 'cancelled'] as const;

/** The document `runs/{runId}`. It is small, because clients watch it. All fields are always written. */
export const runDocument = z.object({
  id: z.string(),
  /** The owner and the owner's agents see the whole run. Workspace leaders see only its state, steps and cost. */
  owner_uid: z.string(),
  started_by: z.string(),
  workspace: z.string(),
  workflow: z.string(),
  /** First characters of the input, for display in lists. */
  title: z.string(),
  status: z.enum(RUN_STATUSES),
  created_at: timestamp,
  ended_at: z.nullable(timestamp),
  cancel_requested: z.boolean(),
  /** Epoch of the latest lease; 0 before the first lease. Each lease increases the epoch. */
  epoch: z.number(),
  /** Number of deliveries of the run after its latest progress: a step was recorded or started to wait. */
  deliveries: z._default(z.number(), 0),
  /** Expiry of the lease; null without a lease. Writes with an older epoch than the run's are rejected. */
  lease_expires_at: z.nullable(timestamp),
  /** Time at which the sweep dispatches the run, unless the run changes before; null if nothing is due. */
  due_at: z.nullable(timestamp),
  /** No step starts after the deadline. */
  deadline: timestamp,
  current: z.array(z.string()),
  steps_settled: z.number(),
  /** Number of steps in the workflow. Each step of a repeated group counts once. */
  steps_planned: z.number(),
  spent: usageShape,
  result_step: z.nullable(z.string()),
  failure: z.nullable(failure),
  warnings: z.array(z.string()),
  selection: z.nullable(z.object({ agent: z.string(), workflow: z.string(), reasons: z.array(z.string()) })),
  ...parentFields,
  /** Number and total duration of the calls of all steps; null before the first call. */
  worked: z._default(z.nullable(z.object({ attempts: z.int(), milliseconds: z.number() })), null),
  /** Budget that cannot cover the next call. If `is_spent` is false, reservations of other calls use up the rest. */
  budget_wait: z._default(z.nullable(z.object({ key: z.string(), is_spent: z.boolean(), since: timestamp })), null),
  /** W3C trace context of the call that started the run. */
  traceparent: z._default(z.nullable(z.string()), null),
});
