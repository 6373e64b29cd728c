/** Runs as Firestore keeps them. */
import { z } from 'zod';
import { jsonObject } from '../../domain/json.ts';
import { RUN_STATUSES, type Run, type RunOrder } from '../../domain/orchestration/runs/run.ts';
import { readWorkflow } from '../../domain/orchestration/workflows/validation.ts';
import { timestamp } from './timestamp.ts';

const failure = z.object({ reason: z.string(), message: z.string() });

export const spent = z.object({ input_tokens: z.number(), output_tokens: z.number(), cost_usd: z.number() });

type StoredSpent = z.output<typeof spent>;

const runDocument = z.object({
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
  lease_expires_at: timestamp.nullable(),
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
});

/** Every field is always written, so that replacing a run leaves nothing of the old one behind. */
export function runToDocument(run: Run): z.output<typeof runDocument> {
  return {
    id: run.id,
    owner_uid: run.ownerUid,
    started_by: run.startedBy,
    workspace: run.workspace,
    workflow: run.workflow,
    title: run.title,
    status: run.status,
    created_at: run.createdAt,
    ended_at: run.endedAt ?? null,
    cancel_requested: run.cancelRequested,
    epoch: run.epoch,
    deliveries: run.deliveries,
    lease_expires_at: run.lease?.expiresAt ?? null,
    due_at: run.dueAt ?? null,
    deadline: run.deadline,
    current: [...run.current],
    steps_settled: run.stepsSettled,
    steps_planned: run.stepsPlanned,
    spent: storedSpent(run.spent),
    result_step: run.resultStep ?? null,
    failure: run.failure ?? null,
    warnings: [...run.warnings],
    selection: run.selection ? { ...run.selection, reasons: [...run.selection.reasons] } : null,
  };
}

export function runFromDocument(data: unknown): Run {
  const stored = runDocument.parse(data);
  return {
    id: stored.id,
    ownerUid: stored.owner_uid,
    startedBy: stored.started_by,
    workspace: stored.workspace,
    workflow: stored.workflow,
    title: stored.title,
    status: stored.status,
    createdAt: stored.created_at,
    ...(stored.ended_at && { endedAt: stored.ended_at }),
    cancelRequested: stored.cancel_requested,
    epoch: stored.epoch,
    deliveries: stored.deliveries,
    ...(stored.lease_expires_at && { lease: { epoch: stored.epoch, expiresAt: stored.lease_expires_at } }),
    ...(stored.due_at && { dueAt: stored.due_at }),
    deadline: stored.deadline,
    current: stored.current,
    stepsSettled: stored.steps_settled,
    stepsPlanned: stored.steps_planned,
    spent: spentOf(stored.spent),
    ...(stored.result_step !== null && { resultStep: stored.result_step }),
    ...(stored.failure && { failure: stored.failure }),
    warnings: stored.warnings,
    ...(stored.selection && { selection: stored.selection }),
  };
}

export function storedSpent({ inputTokens, outputTokens, costUsd }: Run['spent']): StoredSpent {
  return { input_tokens: inputTokens, output_tokens: outputTokens, cost_usd: costUsd };
}

export function spentOf({ input_tokens, output_tokens, cost_usd }: StoredSpent): Run['spent'] {
  return { inputTokens: input_tokens, outputTokens: output_tokens, costUsd: cost_usd };
}

/** The workflow and the context are the caller's JSON, which may hold what Firestore cannot: lists of lists. */
const orderDocument = z.object({
  workflow: z.string(),
  input: z.string(),
  context: z.string(),
  budget: z.object({ tokens: z.number(), cost_usd: z.number() }),
  parallel: z.boolean().default(true),
});

export function orderToDocument({
  workflow,
  input,
  context,
  budget,
  parallel,
}: RunOrder): z.output<typeof orderDocument> {
  return {
    workflow: JSON.stringify(workflow),
    input,
    context: JSON.stringify(context),
    budget: { tokens: budget.tokens, cost_usd: budget.costUsd },
    parallel,
  };
}

export function orderFromDocument(data: unknown): RunOrder {
  const { workflow, input, context, budget, parallel } = orderDocument.parse(data);
  return {
    workflow: readWorkflow(workflow, 'workflow'),
    input,
    context: jsonObject.parse(JSON.parse(context)),
    budget: { tokens: budget.tokens, costUsd: budget.cost_usd },
    parallel,
  };
}
