/** Runs as Firestore keeps them. */

import { z } from 'zod';
import { type DocumentCodec, documentCodec, jsonText } from '../../../kernel/firestore/codec.ts';
import { timestamp } from '../../../kernel/firestore/documents.ts';
import { RUN_STATUSES, type Run, type RunOrder } from '../rules/runs/run.ts';
import { workflowText } from './workflows.ts';

const failure = z.object({ reason: z.string(), message: z.string() });

export const spent = z.object({ input_tokens: z.number(), output_tokens: z.number(), cost_usd: z.number() });

const codec = documentCodec(
  z.object({
    id: z.string(),
    owner_uid: z.string(),
    started_by: z.string(),
    workspace: z.string(),
    workflow: z.string(),
    title: z.string(),
    status: z.enum(RUN_STATUSES),
    created_at: timestamp,
    ended_at: timestamp.nullable(),
    cancel_requested: z.boolean(),
    epoch: z.number(),
    deliveries: z.number().default(0),
    due_at: timestamp.nullable(),
    deadline: timestamp,
    current: z.array(z.string()),
    steps_settled: z.number(),
    steps_planned: z.number(),
    spent,
    result_step: z.string().nullable(),
    failure: failure.nullable(),
    warnings: z.array(z.string()),
    selection: z.object({ agent: z.string(), workflow: z.string(), reasons: z.array(z.string()) }).nullable(),
  }),
);

/** Until when the run's lease is good. Its epoch is the run's. */
const leases = documentCodec(z.object({ lease_expires_at: timestamp.nullable() }), {
  lease_expires_at: 'expiresAt',
});

/** Every field is always written, so that replacing a run leaves nothing of the old one behind. */
export function runToDocument(run: Run): Record<string, unknown> {
  return { ...codec.toDocument(run), ...leases.toDocument({ ...run.lease }) };
}

export function runFromDocument(data: unknown): Run {
  const run = codec.fromDocument(data);
  const { expiresAt } = leases.fromDocument(data);
  return expiresAt === undefined ? run : { ...run, lease: { epoch: run.epoch, expiresAt } };
}

/** The workflow and the context are the caller's JSON, which may hold what Firestore cannot: lists of lists. */
export const { toDocument: orderToDocument, fromDocument: orderFromDocument }: DocumentCodec<RunOrder> =
  documentCodec(
    z.object({
      workflow: workflowText,
      input: z.string(),
      context: jsonText,
      budget: z.object({ tokens: z.number(), cost_usd: z.number() }),
      parallel: z.boolean().default(true),
    }),
  );
