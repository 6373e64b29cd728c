/** A task as Firestore keeps it: flat, in the specification's words, so that the console reads like the tools. */

import { z } from 'zod';
import { documentCodec } from '../../../kernel/firestore/codec.ts';
import { timestamp } from '../../../kernel/firestore/documents.ts';
import { capabilityKey } from '../rules/queueQuery.ts';
import { type Claim, TASK_STATUSES, type Task, taskType } from '../rules/task.ts';
import { codingDocument } from './codingDocument.ts';

const result = z.object({
  output: z.string(),
  files_modified: z.array(z.string()).exactOptional(),
  files_created: z.array(z.string()).exactOptional(),
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
  context: z.object({ files: z.array(z.string()), hints: z.string().exactOptional() }),
  created_at: timestamp,
  created_by: z.string(),
  claim_epoch: z.int(),
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
      result: result.exactOptional(),
      error: z.string().exactOptional(),
    })
    .nullable(),
  coding: codingDocument.nullable().default(null),
  /** What the creator named. `type` is made of it for queries, and the version before writes its own there. */
  given_type: z.string().nullable().default(null),
  /** Left out where there is none, so that the index of deadlines holds no others. */
  deadline: timestamp.exactOptional(),
});

const codec = documentCodec(document, { claim_epoch: 'epoch', completed_at: 'closedAt', given_type: 'type' });

/** The claim, whose fields lie among the task's; its epoch is the task's. */
const claims = documentCodec(
  z.object({
    claimed_by: z.string().nullable(),
    claimed_at: timestamp.nullable(),
    lease_seconds: z.int().nullable(),
    lease_expires_at: timestamp.nullable(),
    started_at: timestamp.nullable(),
    claimed_by_runner: z.boolean().default(false),
  }),
  { claimed_by: 'agentId', claimed_by_runner: 'isRunners' },
);

/** Every field is always written, so that replacing a task leaves nothing of the old one behind. */
export function taskToDocument(task: Task): Record<string, unknown> {
  return {
    ...codec.toDocument(task),
    ...claims.toDocument({ isRunners: false, ...task.claim }),
    type: taskType(task),
    capability_key: capabilityKey(task.requiredCapabilities),
  };
}

export function taskFromDocument(data: unknown): Task {
  const task = codec.fromDocument(data);
  const {
    agentId,
    claimedAt,
    leaseSeconds = 0,
    leaseExpiresAt,
    startedAt,
    isRunners,
  } = claims.fromDocument(data);
  if (agentId === undefined || claimedAt === undefined || leaseExpiresAt === undefined) return task;
  const claim: Claim = {
    agentId,
    epoch: task.epoch,
    claimedAt,
    leaseSeconds,
    leaseExpiresAt,
    ...(startedAt && { startedAt }),
    ...(isRunners && { isRunners }),
  };
  return { ...task, claim };
}
