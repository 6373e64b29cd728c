/** A task as Firestore keeps it: flat, in the specification's words, so that the console reads like the tools. */
import { z } from 'zod';
import { capabilityKey } from '../../domain/tasks/capabilities.ts';
import { taskType } from '../../domain/tasks/projection.ts';
import {
  type Claim,
  type LateResult,
  TASK_STATUSES,
  type Task,
  type TaskResult,
} from '../../domain/tasks/task.ts';
import { codingDocument, codingFromDocument, codingToDocument } from './codingDocument.ts';
import { timestamp } from './timestamp.ts';

const result = z.object({
  output: z.string(),
  files_modified: z.array(z.string()).optional(),
  files_created: z.array(z.string()).optional(),
});

/** What has a default is younger than the first tasks that are stored. */
const document = z.object({
  id: z.string(),
  workspace: z.string(),
  session: z.string(),
  description: z.string(),
  priority: z.int(),
  status: z.enum(TASK_STATUSES),
  dependencies: z.array(z.string()),
  dependents: z.array(z.string()),
  blockers: z.int(),
  failed_dependencies: z.array(z.string()),
  required_capabilities: z.array(z.string()),
  context: z.object({ files: z.array(z.string()), hints: z.string().optional() }),
  created_at: timestamp,
  created_by: z.string(),
  claim_epoch: z.int(),
  claimed_by: z.string().nullable(),
  claimed_at: timestamp.nullable(),
  lease_seconds: z.int().nullable(),
  lease_expires_at: timestamp.nullable(),
  started_at: timestamp.nullable(),
  claimed_by_runner: z.boolean().default(false),
  lapsed_claims: z.array(z.object({ agent_id: z.string(), claim_epoch: z.int() })),
  retries: z.int(),
  retry_at: timestamp.nullable(),
  result: result.nullable(),
  error: z.string().nullable(),
  completed_at: timestamp.nullable(),
  late_result: z
    .object({
      agent_id: z.string(),
      claim_epoch: z.int(),
      received_at: timestamp,
      result: result.optional(),
      error: z.string().optional(),
    })
    .nullable(),
  coding: codingDocument.nullable().default(null),
  /** What the creator named. `type` is made of it for queries, and the version before writes its own there. */
  given_type: z.string().nullable().default(null),
  /** Left out where there is none, so that the index of deadlines holds no others. */
  deadline: timestamp.optional(),
});

type StoredResult = z.output<typeof result>;
type StoredTask = z.output<typeof document>;

/** Every field is always written, so that replacing a task leaves nothing of the old one behind. */
export function taskToDocument(task: Task): StoredTask & { capability_key: string; type: string } {
  const { claim } = task;
  return {
    id: task.id,
    type: taskType(task),
    workspace: task.workspace,
    session: task.session,
    description: task.description,
    priority: task.priority,
    status: task.status,
    dependencies: [...task.dependencies],
    dependents: [...task.dependents],
    blockers: task.blockers,
    failed_dependencies: [...task.failedDependencies],
    required_capabilities: [...task.requiredCapabilities],
    capability_key: capabilityKey(task.requiredCapabilities),
    context: { ...task.context, files: [...task.context.files] },
    created_at: task.createdAt,
    created_by: task.createdBy,
    claim_epoch: task.epoch,
    claimed_by: claim?.agentId ?? null,
    claimed_at: claim?.claimedAt ?? null,
    lease_seconds: claim?.leaseSeconds ?? null,
    lease_expires_at: claim?.leaseExpiresAt ?? null,
    started_at: claim?.startedAt ?? null,
    claimed_by_runner: claim?.isRunners ?? false,
    lapsed_claims: task.lapsedClaims.map(({ agentId, epoch }) => ({ agent_id: agentId, claim_epoch: epoch })),
    retries: task.retries,
    retry_at: task.retryAt ?? null,
    result: task.result ? storedResult(task.result) : null,
    error: task.error ?? null,
    completed_at: task.closedAt ?? null,
    late_result: task.lateResult ? storedLateResult(task.lateResult) : null,
    coding: task.coding ? codingToDocument(task.coding) : null,
    given_type: task.type ?? null,
    ...(task.deadline && { deadline: task.deadline }),
  };
}

export function taskFromDocument(data: unknown): Task {
  const stored = document.parse(data);
  const claim = claimOf(stored);
  return {
    id: stored.id,
    workspace: stored.workspace,
    session: stored.session,
    description: stored.description,
    priority: stored.priority,
    status: stored.status,
    dependencies: stored.dependencies,
    dependents: stored.dependents,
    blockers: stored.blockers,
    failedDependencies: stored.failed_dependencies,
    requiredCapabilities: stored.required_capabilities,
    context: {
      files: stored.context.files,
      ...(stored.context.hints !== undefined && { hints: stored.context.hints }),
    },
    createdAt: stored.created_at,
    createdBy: stored.created_by,
    epoch: stored.claim_epoch,
    ...(claim && { claim }),
    lapsedClaims: stored.lapsed_claims.map((lapsed) => ({
      agentId: lapsed.agent_id,
      epoch: lapsed.claim_epoch,
    })),
    retries: stored.retries,
    ...(stored.retry_at && { retryAt: stored.retry_at }),
    ...(stored.result && { result: resultOf(stored.result) }),
    ...(stored.error !== null && { error: stored.error }),
    ...(stored.completed_at && { closedAt: stored.completed_at }),
    ...(stored.late_result && { lateResult: lateResultOf(stored.late_result) }),
    ...(stored.coding && { coding: codingFromDocument(stored.coding) }),
    ...(stored.given_type !== null && { type: stored.given_type }),
    ...(stored.deadline && { deadline: stored.deadline }),
  };
}

function claimOf(stored: StoredTask): Claim | undefined {
  const { claimed_by: agentId, claimed_at: claimedAt, lease_expires_at: leaseExpiresAt } = stored;
  if (agentId === null || claimedAt === null || leaseExpiresAt === null) return undefined;
  return {
    agentId,
    epoch: stored.claim_epoch,
    claimedAt,
    leaseSeconds: stored.lease_seconds ?? 0,
    leaseExpiresAt,
    ...(stored.started_at && { startedAt: stored.started_at }),
    ...(stored.claimed_by_runner && { isRunners: true }),
  };
}

function storedResult(result: TaskResult): StoredResult {
  return {
    output: result.output,
    ...(result.filesModified && { files_modified: [...result.filesModified] }),
    ...(result.filesCreated && { files_created: [...result.filesCreated] }),
  };
}

function resultOf(stored: StoredResult): TaskResult {
  return {
    output: stored.output,
    ...(stored.files_modified && { filesModified: stored.files_modified }),
    ...(stored.files_created && { filesCreated: stored.files_created }),
  };
}

function storedLateResult(late: LateResult): NonNullable<StoredTask['late_result']> {
  return {
    agent_id: late.agentId,
    claim_epoch: late.epoch,
    received_at: late.receivedAt,
    ...(late.result && { result: storedResult(late.result) }),
    ...(late.error !== undefined && { error: late.error }),
  };
}

function lateResultOf(stored: NonNullable<StoredTask['late_result']>): LateResult {
  return {
    agentId: stored.agent_id,
    epoch: stored.claim_epoch,
    receivedAt: stored.received_at,
    ...(stored.result && { result: resultOf(stored.result) }),
    ...(stored.error !== undefined && { error: stored.error }),
  };
}
